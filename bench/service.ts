import { join } from 'node:path'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import { createSpeechEngine } from '../infrastructure/onnx/process/engine-client.ts'
import { createVoiceActivity } from '../infrastructure/onnx/voice-activity.ts'
import { logIn } from '../interfaces/cli/streaming/api-client.ts'
import { startThrowAwayInstance } from '../interfaces/cli/streaming/instance.ts'
import { streamLive } from '../interfaces/cli/streaming/live-stream.ts'
import { demoSpeech, QUIET, ROOT } from './audio.ts'
import { timed } from './cpu-time.ts'
import type { Benchmark, Contest, Skipped } from './harness.ts'
import { openModelLoop } from './model-loop.ts'
import { recordLive } from './recorded-live.ts'
import { openTinyModel, TINY_ABSENT, TINY_TOKENS } from './tiny-model.ts'

const LIVES = 2
/** Seconds of the demo's speech that each session sends in real time. */
const SECONDS = 20
/** A session that ends later than this after its last audio shows that the service skipped passes under load. */
const MAX_TAIL_SECONDS = 4

const contest = async (
  model: string,
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Contest> => {
  const samples = (await demoSpeech()).samples.subarray(0, SECONDS * SAMPLE_RATE)
  const engine = createSpeechEngine({ models: new Map([[model, folder]]), workers: 1, logger: QUIET })
  const runs = await recordLive(engine, model, samples)
  await engine.close()
  const loop = await openModelLoop(folder, createVoiceActivity())
  const instance = await startThrowAwayInstance(settings)
  const client = await logIn(instance.url, instance.username, instance.password)
  const lives = Array.from({ length: LIVES })
  return {
    ours: async () => {
      const round = await timed(LIVES * SECONDS, async () => {
        await Promise.all(
          lives.map(
            async () => streamLive(client, await client.createLive({ model, language: 'en' }), samples, { speed: 1 }),
          ),
        )
      })
      if (round.seconds > SECONDS + MAX_TAIL_SECONDS)
        console.error(
          'warning: the service skipped passes, so its result is too good: the machine is too slow or too busy',
        )
      return round
    },
    peers: () =>
      timed(LIVES * SECONDS, async () => {
        for (const _ of lives) await loop(runs)
      }),
    close: instance.dispose,
  }
}

const contestOfTiny = async (): Promise<Contest | Skipped> => {
  const tiny = await openTinyModel(TINY_TOKENS)
  if (tiny === null) return TINY_ABSENT
  const { close, ...sides } = await contest(tiny.name, tiny.folder, { STENOLOG_MODELS_DIR: tiny.parent })
  return {
    ...sides,
    close: async () => {
      await close()
      await tiny.remove()
    },
  }
}

const service = (name: string, model: string, prepare: Benchmark['prepare']): Benchmark => ({
  name,
  meaning: `${LIVES} simultaneous sessions through the whole service with ${model}: audio to its WebSockets in real `
    + `time, until the last frame`,
  peer: 'the plain model loop: the windows of such sessions through the same speech detector and model, on one thread',
  unit: 'seconds of audio',
  basis: 'cpu',
  atLeast: null,
  rounds: 3,
  warmUp: true,
  prepare,
})

/** Comparisons of the whole service over real sockets with a plain loop of the same model runs. */
export const services: ReadonlyArray<Benchmark> = [
  service('service-demo', 'demo-en', () => contest('demo-en', join(ROOT, 'models/demo-en'))),
  service('service', 'whisper-tiny-random', contestOfTiny),
]
