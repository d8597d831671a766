import test from 'ava'
import { createSpeechEngine } from '../../../../infrastructure/onnx/process/engine-client.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../domain/live/settings.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { streamAudio } from '../../../support/pipeline/pipeline-stream.ts'

const SHORT = 20 * 16000
/** Samples of the audio that plays all tones once. */
const SCALE = 48 * 16000

/** Noise that is equal in every run (a linear congruential generator). */
const whiteNoise = (amplitude: number): Int16Array => {
  let seed = 1
  return Int16Array.from({ length: SHORT }, () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return Math.round((seed / 2 ** 31 - 1) * amplitude)
  })
}

/** Tones of one second each, from 110 Hz upwards, with one second of silence between them. */
const tones = (): Int16Array =>
  Int16Array.from({ length: SCALE }, (_, i) => {
    const second = Math.floor(i / 16000)
    const hertz = 110 * 2 ** ((second % 24) / 6)
    return second % 2 === 0 ? 0 : Math.round(8000 * Math.sin((2 * Math.PI * hertz * i) / 16000))
  })

test('silence, white noise and tones give no frame on the real engine', async (t) => {
  const engine = createSpeechEngine({
    models: new Map([['demo-en', 'models/demo-en']]),
    workers: 1,
    logger: createRecordingLogger(),
  })
  t.teardown(() => engine.close())
  const sounds = {
    silence: new Int16Array(SHORT),
    'faint noise': whiteNoise(30),
    noise: whiteNoise(6000),
    tones: tones(),
  }
  for (const [name, audio] of Object.entries(sounds)) {
    const options = {
      model: 'demo-en',
      words: [],
      settings: DEFAULT_ENGINE_SETTINGS,
      chunk: 16000,
      ticks: 1,
      latency: 0,
      windowSeconds: 10,
    }
    const { frames, failures } = await streamAudio({ ...options, audio, engine })
    t.deepEqual(frames.map(({ text }) => text), [], name)
    t.deepEqual(failures, [], name)
  }
})
