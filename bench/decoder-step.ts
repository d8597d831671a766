import * as E from 'fp-ts/lib/Either.js'
import { Tensor, type InferenceSession } from 'onnxruntime-node'
import { mergedDecoder, twoFileDecoder } from '../infrastructure/onnx/decoder.ts'
import { decodeGreedily } from '../infrastructure/onnx/decoding.ts'
import { openSession } from '../infrastructure/onnx/sessions.ts'
import { readWhisperDirectory } from '../infrastructure/onnx/whisper/whisper-directory.ts'
import { promptFor } from '../infrastructure/onnx/whisper/whisper-model.ts'
import type { Benchmark, Contest, Skipped } from './harness.ts'
import { openTinyModel, TINY_ABSENT, TINY_TOKENS } from './tiny-model.ts'

/** Milliseconds that a step may spend outside the model. */
const LIMIT_MS = 3
/** Frames of the encoder's output. The number does not matter here. */
const FRAMES = 150

/**
 * Wraps a session and adds the time of its runs to `spent.runs`. The copy of the logits does not count: it belongs to
 * the time outside the model.
 */
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
  const decoder = files.kind === 'two'
    ? twoFileDecoder(await open(files.prompt), await open(files.next))
    : mergedDecoder(await open(files.file), model)
  const prompted = promptFor(model, { language: 'en' }, true)
  if (E.isLeft(prompted)) throw new Error(prompted.left)
  const wanted = Array.from({ length: rows }, () => ({ prompt: prompted.right, limit: TINY_TOKENS }))
  const width = model.decoderHeads * model.headSize
  const encoded = new Tensor('float32', new Float32Array(rows * FRAMES * width), [rows, FRAMES, width])
  const rules = {
    suppressed: model.suppressed, suppressedAtBegin: model.suppressedAtBegin, endOfText: model.endOfText,
    timestamps: model.timestampRules,
  }
  return {
    // The harness compares two sides. Our side is the time limit, and the peer's side is the measured time. So the step
    // is within the limit when the ratio is at least 1.
    ours: () => Promise.resolve({ work: LIMIT_MS, seconds: 1, cpuSeconds: null }),
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
  meaning: `the budget of ${LIMIT_MS} ms of a decoder step outside its model; `
    + `${rows} ${rows === 1 ? 'text' : 'texts together'}, vocabulary of 51,865`,
  peer: 'the measured time on this machine: rules, choice of tokens, feeds and a copy of the logits',
  unit: 'milliseconds',
  basis: 'count',
  atLeast: 1,
  rounds: 11,
  warmUp: true,
  prepare: () => contest(rows),
})

export const decoderSteps: ReadonlyArray<Benchmark> = [decoderStep(1), decoderStep(8)]
