import { join } from 'node:path'
import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import { demoSpeech, QUIET } from '../audio.ts'
import { timed } from '../cpu-time.ts'
import type { Benchmark } from '../harness.ts'
import { openPair } from '../socket-processes.ts'
import { FRAME_INTERVAL_MS, LISTENERS } from '../sockets.ts'
import { contest } from './contest.ts'

const FRAMES = 12
/** 2 s of CPU time, which the kernel reports in steps of 10 ms. */
const AUDIO_FRAMES = 100_000
const MODEL = 'demo-en'

const comparison = (given: Pick<Benchmark, 'name' | 'meaning' | 'unit' | 'prepare'>): Benchmark => ({
  peer: 'the same with the checkout of STENOLOG_BENCH_BEFORE',
  basis: 'cpu',
  atLeast: 0.95,
  rounds: 31,
  warmUp: true,
  ...given,
})

const fanOut = comparison({
  name: 'before-fan-out',
  meaning: `captions to ${LISTENERS} listeners of one session; counts the CPU time of the server process only`,
  unit: 'frames delivered',
  prepare: () =>
    contest(async ({ checkout }) => {
      const pair = await openPair('ours', 'listener', LISTENERS, checkout)
      return { round: () => pair.fanOut(FRAMES, FRAME_INTERVAL_MS), close: async () => pair.close() }
    }),
})

const ingest = comparison({
  name: 'before-ingest',
  meaning: 'base64 audio frames of 100 ms from one sender to the pipeline; counts the CPU time of the server process '
    + 'only',
  unit: 'seconds of audio',
  prepare: () =>
    contest(async ({ checkout }) => {
      const pair = await openPair('ours', 'sender', 1, checkout)
      return { round: () => pair.speak(AUDIO_FRAMES), close: async () => pair.close() }
    }),
})

const pipeline = comparison({
  name: 'before-pipeline',
  meaning: `a session of ${MODEL} on the pipeline of the service, with scheduler and engine process`,
  unit: 'seconds of audio',
  prepare: async () => {
    const { samples } = await demoSpeech()
    return contest(async ({ checkout, modules: { createSpeechEngine, recordLive } }) => {
      const models = new Map([[MODEL, join(checkout, 'models', MODEL)]])
      const engine = createSpeechEngine({ models, workers: 1, logger: QUIET })
      return {
        round: () =>
          timed(samples.length / SAMPLE_RATE, async () => void (await recordLive(engine, MODEL, samples))),
        close: engine.close,
      }
    })
  },
})

/** Comparisons of the paths of audio and captions with those of the other checkout. */
export const streamingComparisons: ReadonlyArray<Benchmark> = [fanOut, ingest, pipeline]
