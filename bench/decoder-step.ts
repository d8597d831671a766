import * as E from 'fp-ts/lib/Either.js'
import { Tensor } from 'onnxruntime-node'
import type { InferenceSession } from 'onnxruntime-node'
import { mergedDecoder, twoFileDecoder } from '../infrastructure/onnx/decoder.ts'
import { decodeGreedily } from '../infrastructure/onnx/decoding.ts'
import { openSession } from '../infrastructure/onnx/sessions.ts'
import { readWhisperDirectory } from '../infrastructure/onnx/whisper/whisper-directory.ts'
import { promptFor } from '../infrastructure/onnx/whisper/whisper-model.ts'
import type { Benchmark, Contest, Skipped } from './harness.ts'
import { openTinyModel, TINY_ABSENT, TINY_TOKENS } from './tiny-model.ts'

/** Milliseconds of a step that may pass outside the model. */
const LIMIT = 3
/** Seconds of what the encoder gives: it plays no part here. */
const FRAMES = 150

/** Time spent in a session's runs. What their logits take to be copied once, as from a device, is not: it is ours. */
const watched = (session: InferenceSession, spent: { runs: number }): InferenceSession => {
  const run = session.run.bind(session)
  return Object.assign(session, {
    run: async (feeds: InferenceSession.FeedsType) => {
      const began = performance.now()
      const results = await run(feeds)
      spent.runs += performance.now() - began
      const logits = results['logits']?.data
      if (logits instanceof Float32Array) logits.slice()
      return results
    },
  })
}

const contest = async (rows: number): Promise<Contest | Skipped> => {
  const tiny = await openTinyModel(TINY_TOKENS)
  if (tiny === null) return TINY_ABSENT
  const found = await readWhisperDirectory(tiny.folder)
  if (E.isLeft(found)) throw new Error(found.left)
  const model = found.right
  const spent = { runs: 0 }
  const open = async (file: string): Promise<InferenceSession> => watched(await openSession(file), spent)
  const { decoder: files } = model.weights
  const decoder = files.kind === 'two' ? twoFileDecoder(await open(files.prompt), await open(files.next)) : mergedDecoder(await open(files.file), model)
  const prompted = promptFor(model, { language: 'en' }, true)
  if (E.isLeft(prompted)) throw new Error(prompted.left)
  const wanted = Array.from({ length: rows }, () => ({ prompt: prompted.right, limit: TINY_TOKENS }))
  const width = model.decoderHeads * model.headSize
  const encoded = new Tensor('float32', new Float32Array(rows * FRAMES * width), [rows, FRAMES, width])
  const rules = {
    suppressed: model.suppressed, suppressedAtBegin: model.suppressedAtBegin, endOfText: model.endOfText, timestamps: model.timestampRules,
  }
  return {
    ours: () => Promise.resolve({ work: LIMIT, seconds: 1, cpuSeconds: null }),
    peers: async () => {
      spent.runs = 0
      let steps = 0
      const began = performance.now()
      await decodeGreedily(decoder, encoded, wanted, rules, (_, { tokens }) => {
        steps = Math.max(steps, tokens.length)
      })
      return { work: (performance.now() - began - spent.runs) / steps, seconds: 1, cpuSeconds: null }
    },
    close: async () => {
      await decoder.release()
      await tiny.remove()
    },
  }
}

const decoderStep = (rows: number): Benchmark => ({
  name: `decoder-step-${rows}`,
  meaning: `${LIMIT} ms, which a step of a decoder may take outside its model; ${rows} ${rows === 1 ? 'text' : 'texts together'}, a vocabulary of 51,865`,
  peer: 'what it takes on this machine: rules, choice of tokens, feeds, and a copy of the logits',
  unit: 'milliseconds',
  basis: 'count',
  atLeast: 1,
  rounds: 11,
  warmUp: true,
  prepare: () => contest(rows),
})

export const decoderSteps: ReadonlyArray<Benchmark> = [decoderStep(1), decoderStep(8)]
