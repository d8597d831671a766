import { join } from 'node:path'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import { createSpeechEngine } from '../infrastructure/onnx/engine-client.ts'
import { demoSpeech, QUIET, ROOT } from './audio.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark } from './harness.ts'
import { openModelLoop } from './model-loop.ts'
import type { ModelRun } from './model-loop.ts'
import { recordLive } from './recorded-live.ts'

const MODEL = 'demo-en'
const LIVES = 2

const shapeOf = (runs: ReadonlyArray<ModelRun>): string =>
  runs.map((run) => `${run.kind} ${run.kind === 'detect' ? run.samples.length : run.job.samples.length}`).join()

/** The pipeline with its engine process, beside the runs of the models that it asked for. */
export const pipeline: Benchmark = {
  name: 'pipeline',
  meaning: `${LIVES} lives, one after the other, on the pipeline of the service, with scheduler and engine process: audio in chunks of 100 ms, segments out`,
  peer: 'the bare model loop: the same windows through the same speech detector and model, in the same order, on one thread of one process',
  unit: 'seconds of audio',
  basis: 'cpu',
  atLeast: 0.95,
  rounds: 5,
  warmUp: true,
  prepare: async () => {
    const { samples } = await demoSpeech()
    const folder = join(ROOT, 'models', MODEL)
    const engine = createSpeechEngine({ models: new Map([[MODEL, folder]]), workers: 1, logger: QUIET })
    const loop = await openModelLoop(folder)
    const runs = await recordLive(engine, MODEL, samples)
    const seconds = (LIVES * samples.length) / SAMPLE_RATE
    const lives = Array.from({ length: LIVES }, (_, i) => i + 1)
    return {
      ours: () =>
        timed(seconds, async () => {
          for (const _ of lives) {
            const own = await recordLive(engine, MODEL, samples)
            if (shapeOf(own) !== shapeOf(runs)) throw new Error('the pipeline heard other windows than before')
          }
        }),
      peers: () =>
        timed(seconds, async () => {
          for (const _ of lives) await loop(runs)
        }),
      close: engine.close,
    }
  },
}
