import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { runLive, type LiveOptions } from '../../../bench/speech/live.ts'
import { SAMPLE_RATE, VAD_FRAME, type SpeechEngine } from '../../../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'

/** An engine that returns one word for each second of audio without delay, and takes all audio for speech. */
const engine: SpeechEngine = {
  deviceOf: () => ({ name: 'cpu', lanes: 1 }),
  passTime: () => null,
  load: async () => E.right({ windowSeconds: 30 }),
  detectSpeech: async (samples) =>
    E.right({ probabilities: new Float32Array(samples.length / VAD_FRAME).fill(1), state: new Float32Array(0) }),
  transcribe: async ({ samples }) => {
    const seconds = samples.length / SAMPLE_RATE
    const text = Array.from({ length: Math.floor(seconds) }, (_, i) => ` word${i}`).join('')
    const segments = [{ start: 0, end: seconds, text }]
    return E.right({ segments, avgLogprob: -0.1, noSpeechProb: 0, compressionRatio: 1 })
  },
  pid: () => undefined,
  close: async () => undefined,
}

const transcribe = (passSeconds: number) => {
  const options: LiveOptions = { model: 'scripted', settings: DEFAULT_ENGINE_SETTINGS, speed: 'max', passSeconds }
  return runLive(engine, new Int16Array(5 * SAMPLE_RATE).fill(1000), 'en', options)
}

test('at full speed the audio is the only clock: two runs show the same text at the same times', async (t) => {
  const [firstRun, secondRun] = [await transcribe(0), await transcribe(0)]
  t.deepEqual(firstRun.frames, secondRun.frames)
  t.is(firstRun.passes, secondRun.passes)
  const last = firstRun.frames.at(-1)
  t.like(last, { final: true, at: 5 })
  t.true(firstRun.frames.length > 2)
})

test('the text of a pass appears later by the duration of the pass, the last text after the end', async (t) => {
  const [instant, slow] = [await transcribe(0), await transcribe(0.5)]
  const [first, delayed] = [instant.frames[0]?.at ?? 0, slow.frames[0]?.at ?? 0]
  t.true(Math.abs(delayed - first - 0.5) < 0.001, `${first} and ${delayed}`)
  t.true((slow.frames.at(-1)?.at ?? 0) > 5)
  t.is(slow.engineCpu, null)
})
