import { join } from 'node:path'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import { createSpeechEngine } from '../infrastructure/onnx/engine-client.ts'
import { demoSpeech, QUIET, ROOT } from './audio.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark, Contest, Skipped } from './harness.ts'
import { openModelLoop } from './model-loop.ts'
import type { ModelRun } from './model-loop.ts'
import { recordLive } from './recorded-live.ts'
import { openTinyModel, TINY_ABSENT, TINY_TOKENS } from './tiny-model.ts'

const LIVES = 2
/** Seconds of the demo's speech that the larger model hears. */
const TINY_SECONDS = 10

const shapeOf = (runs: ReadonlyArray<ModelRun>): string =>
  runs.map((run) => `${run.kind} ${run.kind === 'detect' ? run.samples.length : run.job.samples.length}`).join()

const contest = async (model: string, folder: string, most = Infinity): Promise<Contest> => {
  const samples = (await demoSpeech()).samples.subarray(0, most * SAMPLE_RATE)
  const engine = createSpeechEngine({ models: new Map([[model, folder]]), workers: 1, logger: QUIET })
  const loop = await openModelLoop(folder)
  const runs = await recordLive(engine, model, samples)
  const seconds = (LIVES * samples.length) / SAMPLE_RATE
  const lives = Array.from({ length: LIVES }, (_, i) => i + 1)
  return {
    ours: () =>
      timed(seconds, async () => {
        for (const _ of lives) {
          const own = await recordLive(engine, model, samples)
          if (shapeOf(own) !== shapeOf(runs)) throw new Error('the pipeline heard other windows than before')
        }
      }),
    peers: () =>
      timed(seconds, async () => {
        for (const _ of lives) await loop(runs)
      }),
    close: engine.close,
  }
}

const contestOfTiny = async (): Promise<Contest | Skipped> => {
  const tiny = await openTinyModel(TINY_TOKENS)
  if (tiny === null) return TINY_ABSENT
  const { close, ...sides } = await contest(tiny.name, tiny.folder, TINY_SECONDS)
  return {
    ...sides,
    close: async () => {
      await close()
      await tiny.remove()
    },
  }
}

const pipeline = (name: string, model: string, rounds: number, prepare: Benchmark['prepare']): Benchmark => ({
  name,
  meaning: `${LIVES} lives of ${model}, one after the other, on the pipeline of the service, with scheduler and engine process: audio in chunks of 100 ms, segments out`,
  peer: 'the bare model loop: the same windows through the same speech detector and model, in the same order, on one thread of one process',
  unit: 'seconds of audio',
  basis: 'cpu',
  atLeast: 0.95,
  rounds,
  warmUp: true,
  prepare,
})

/** The pipeline with its engine process, beside the runs of the models that it asked for. */
export const pipelines: ReadonlyArray<Benchmark> = [
  pipeline('pipeline', 'demo-en', 5, () => contest('demo-en', join(ROOT, 'models/demo-en'))),
  pipeline('pipeline-tiny', 'whisper-tiny-random', 3, contestOfTiny),
]
