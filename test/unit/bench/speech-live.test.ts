import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { runLive } from '../../../bench/speech/live.ts'
import type { LiveOptions } from '../../../bench/speech/live.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../../application/ports/engine.ts'
import type { SpeechEngine } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'

/** Hears a word for each second of audio, all of it speech, as fast as it is asked. */
const engine: SpeechEngine = {
  deviceOf: () => ({ name: 'cpu', lanes: 1 }),
  passTime: () => null,
  load: () => async () => E.right({ windowSeconds: 30 }),
  detectSpeech: (samples) => async () =>
    E.right({ probabilities: new Float32Array(samples.length / VAD_FRAME).fill(1), state: new Float32Array(0) }),
  transcribe: ({ samples }) => async () => {
    const seconds = samples.length / SAMPLE_RATE
    const text = Array.from({ length: Math.floor(seconds) }, (_, i) => ` word${i}`).join('')
    const segments = [{ start: 0, end: seconds, text }]
    return E.right({ segments, avgLogprob: -0.1, noSpeechProb: 0, compressionRatio: 1 })
  },
  pid: () => undefined,
  close: async () => undefined,
}

const heard = (passSeconds: number) => {
  const options: LiveOptions = { model: 'scripted', settings: DEFAULT_ENGINE_SETTINGS, speed: 'max', passSeconds }
  return runLive(engine, new Int16Array(5 * SAMPLE_RATE).fill(1000), 'en', options)
}

test('at full speed the audio is the only clock: two runs show the same text at the same times', async (t) => {
  const [one, two] = [await heard(0), await heard(0)]
  t.deepEqual(one.frames, two.frames)
  t.is(one.passes, two.passes)
  const last = one.frames.at(-1)
  t.like(last, { final: true, at: 5 })
  t.true(one.frames.length > 2)
})

test('the text of a slow pass appears later by the duration of the pass, the last one after the end', async (t) => {
  const [now, later] = [await heard(0), await heard(0.5)]
  const [first, delayed] = [now.frames[0]?.at ?? 0, later.frames[0]?.at ?? 0]
  t.true(Math.abs(delayed - first - 0.5) < 0.001, `${first} and ${delayed}`)
  t.true((later.frames.at(-1)?.at ?? 0) > 5)
  t.is(later.engineCpu, null)
})
