import { join } from 'node:path'
import { createScheduler } from '../application/pipeline/scheduler.ts'
import { DEFAULT_ENGINE_SETTINGS as SETTINGS } from '../domain/live/settings.ts'
import { createSpeechEngine } from '../infrastructure/onnx/process/engine-client.ts'
import { demoSpeech, garbage, QUIET, ROOT } from './audio.ts'
import type { Benchmark, Contest } from './harness.ts'
import { lagOf } from './lives.ts'

const LIVES = 8
const MODEL = 'demo-en'

const contest = async (): Promise<Contest> => {
  const { samples } = await demoSpeech()
  const engine = createSpeechEngine({ models: new Map([[MODEL, join(ROOT, 'models', MODEL)]]), logger: QUIET })
  const speakers = Array.from({ length: LIVES }, () => ({ samples, settings: SETTINGS }))
  // Without voice detection the model receives all of this audio.
  const noisy = { samples: garbage(20), settings: { ...SETTINGS, vad: false } }
  return {
    // The harness compares two sides. Our side is the allowed delay, and the peer's side is the measured lag. So the
    // lag is within the limit when the ratio is at least 1.
    ours: () => Promise.resolve({ work: SETTINGS.max_delay, seconds: 1, cpuSeconds: null }),
    peers: async () => {
      const lag = await lagOf(
        engine,
        (running) => createScheduler(running, () => performance.now()),
        MODEL,
        [...speakers, noisy],
      )
      return { work: lag / 1000, seconds: 1, cpuSeconds: null }
    },
    close: engine.close,
  }
}

export const demoLives: Benchmark = {
  name: 'demo-lives',
  meaning: `max_delay (${SETTINGS.max_delay} s) of ${LIVES} sessions of demo-en in real time and one session of noise `
    + `without voice detection`,
  peer: 'the 95th percentile of the lag of their passes on our engine and scheduler',
  unit: 'seconds',
  basis: 'count',
  atLeast: 1,
  rounds: 3,
  warmUp: false,
  prepare: contest,
}
