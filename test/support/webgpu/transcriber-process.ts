import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import type { WhisperModel } from '../../../infrastructure/onnx/whisper/whisper-model.ts'
import type { Transcribed, TranscriberSettings, TranscribeRequest } from './transcriber.ts'

/** A process that transcribes clips on request. It is separate, because a driver reads its environment only once. */
const settings = JSON.parse(process.argv[2] ?? '{}') as TranscriberSettings
const { folder, provider, merged, disposes = true, profiles } = settings

/** Tensors that runs created on the device, and tensors that were released. */
const tensors = { created: 0, disposed: 0 }
const sessions: Array<InferenceSession> = []
/** The graphs in the order in which a model with two decoder files opens them. */
const GRAPHS = ['decoder_model', 'decoder_with_past_model', 'encoder_model']
const create = InferenceSession.create.bind(InferenceSession) as (
  graph: Uint8Array,
  options: object,
) => Promise<InferenceSession>
const { dispose } = Tensor.prototype
Object.assign(InferenceSession, {
  create: async (graph: Uint8Array, options: object) => {
    const name = GRAPHS[sessions.length] ?? 'further_graph'
    const profiling =
      profiles === undefined ? {} : { enableProfiling: true, profileFilePrefix: join(profiles, `${name}.onnx`) }
    const session = await create(graph, { ...options, ...profiling })
    sessions.push(session)
    const run = session.run.bind(session) as (
      ...feeds: ReadonlyArray<unknown>
    ) => Promise<InferenceSession.OnnxValueMapType>
    return Object.assign(session, {
      run: async (...feeds: ReadonlyArray<unknown>) => {
        const results = await run(...feeds)
        tensors.created += Object.values(results).filter(({ location }) => location === 'gpu-buffer').length
        return results
      },
    })
  },
})
Tensor.prototype.dispose = function counted(this: Tensor) {
  if (!disposes) return
  tensors.disposed += 1
  dispose.call(this)
}

const directory = await readWhisperDirectory(folder, provider)
if (E.isLeft(directory)) throw new Error(directory.left)
const model: WhisperModel = directory.right
const decoder = merged === undefined ? model.weights.decoder : ({ kind: 'merged', file: merged } as const)
const runner = await loadWhisper({ ...model, weights: { ...model.weights, decoder } }, undefined, provider)

const transcribe = async ({ clips, isCancelled }: TranscribeRequest): Promise<Transcribed> => {
  const tokens: Array<ReadonlyArray<number>> = clips.map(() => [])
  const cancel = new AbortController()
  const audios = clips.map((samples) => ({ samples, language: 'en', signal: cancel.signal }))
  const transcribed = runner.decodeTogether(audios, (index, decoded) => {
    tokens[index] = decoded.tokens
  })
  if (isCancelled) setImmediate(() => cancel.abort())
  await transcribed
  if (profiles !== undefined) for (const session of sessions) session.endProfiling()
  globalThis.gc?.()
  return { tokens, tensors, rss: process.memoryUsage.rss() }
}

process.on('message', (request: TranscribeRequest) => {
  void transcribe(request).then((transcribed) => process.send?.(transcribed))
})
process.send?.('ready')
