import { join } from 'node:path'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import { createSpeechEngine } from '../infrastructure/onnx/process/engine-client.ts'
import { createVoiceActivity, type DetectSpeech } from '../infrastructure/onnx/voice-activity.ts'
import { demoSpeech, QUIET, ROOT } from './audio.ts'
import { timed } from './cpu-time.ts'
import { openFrameByFrame } from './frame-by-frame.ts'
import type { Benchmark, Contest, Skipped } from './harness.ts'
import { openModelLoop, type ModelRun } from './model-loop.ts'
import { recordLive } from './recorded-live.ts'
import { openTinyModel, TINY_ABSENT, TINY_TOKENS } from './tiny-model.ts'

const LIVES = 2
/** Seconds of the demo's speech for the larger model. */
const TINY_SECONDS = 10

const shapeOf = (runs: ReadonlyArray<ModelRun>): string =>
  runs.map((run) => `${run.kind} ${run.kind === 'detect' ? run.samples.length : run.job.samples.length}`).join()

const contest = async (
  model: string,
  folder: string,
  detectSpeech: DetectSpeech,
  maxSeconds = Infinity,
): Promise<Contest> => {
  const samples = (await demoSpeech()).samples.subarray(0, maxSeconds * SAMPLE_RATE)
  const engine = createSpeechEngine({ models: new Map([[model, folder]]), workers: 1, logger: QUIET })
  const loop = await openModelLoop(folder, detectSpeech)
  const runs = await recordLive(engine, model, samples)
  const seconds = (LIVES * samples.length) / SAMPLE_RATE
  const lives = Array.from({ length: LIVES }, (_, i) => i + 1)
  return {
    ours: () =>
      timed(seconds, async () => {
        for (const _ of lives) {
          const own = await recordLive(engine, model, samples)
          if (shapeOf(own) !== shapeOf(runs))
            throw new Error('the pipeline transcribed other windows than the recorded run')
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
  const { close, ...sides } = await contest(tiny.name, tiny.folder, await openFrameByFrame(), TINY_SECONDS)
  return {
    ...sides,
    close: async () => {
      await close()
      await tiny.remove()
    },
  }
}

const DEMO = ['demo-en', join(ROOT, 'models/demo-en')] as const

const pipeline = (given: Pick<Benchmark, 'name' | 'peer' | 'atLeast' | 'rounds' | 'prepare'>): Benchmark => ({
  meaning: `${LIVES} sessions in turn on the pipeline of the service, with scheduler and engine process: audio in `
    + `chunks of 100 ms, segments out`,
  unit: 'seconds of audio',
  basis: 'cpu',
  warmUp: true,
  ...given,
})

const MODEL_LOOP =
  'the plain model loop: the same windows through the same models in the same order, Silero with its original graph, '
    + 'on one thread'

/** Comparisons of the pipeline and its engine process with a plain loop of the same model runs. */
export const pipelines: ReadonlyArray<Benchmark> = [
  pipeline({
    name: 'pipeline',
    peer: MODEL_LOOP,
    atLeast: 0.95,
    rounds: 5,
    prepare: async () => contest(...DEMO, await openFrameByFrame()),
  }),
  pipeline({
    name: 'pipeline-way',
    peer: 'the same loop with our detector: shows the cost of policy, scheduler and process boundary',
    atLeast: null,
    rounds: 5,
    prepare: () => contest(...DEMO, createVoiceActivity()),
  }),
  pipeline({ name: 'pipeline-tiny', peer: MODEL_LOOP, atLeast: 0.95, rounds: 3, prepare: contestOfTiny }),
]
