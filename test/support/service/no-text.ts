import type { ExecutionContext } from 'ava'
import { startTestService } from './service.ts'
import { sampleSentences, silence } from '../audio/speech.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { createRandom } from '../tools/seeded.ts'

const random = createRandom('white noise')
const CHORD_HZ = [220, 277, 330]

/** Sounds without speech, s16le at 16 kHz. Each is a function of the number of the sample. */
const SOUNDS: ReadonlyArray<readonly [name: string, sample: (index: number) => number]> = [
  ['digital silence', () => 0],
  ['white noise at −60 dB', () => (random() - 0.5) * 65],
  ['white noise at −40 dB', () => (random() - 0.5) * 650],
  ['white noise at −20 dB', () => (random() - 0.5) * 6500],
  ['a hum of 50 Hz', (i) => 3000 * Math.sin((2 * Math.PI * 50 * i) / SAMPLE_RATE)],
  ['a tone of 440 Hz', (i) => 6000 * Math.sin((2 * Math.PI * 440 * i) / SAMPLE_RATE)],
  ['a tone of 1 kHz', (i) => 6000 * Math.sin((2 * Math.PI * 1000 * i) / SAMPLE_RATE)],
  ['a chord', (i) => CHORD_HZ.reduce((sum, hz) => sum + 2000 * Math.sin((2 * Math.PI * hz * i) / SAMPLE_RATE), 0)],
  ['beeps', (i) => (i % SAMPLE_RATE < SAMPLE_RATE / 5 ? 8000 * Math.sin((2 * Math.PI * 800 * i) / SAMPLE_RATE) : 0)],
  ['clicks', (i) => (i % (SAMPLE_RATE / 2) < 8 ? 20_000 : 0)],
]

/** Sounds without speech of this length, one kind after another. */
const soundsWithoutSpeech = (seconds: number): Int16Array => {
  const samplesPerSound = Math.ceil((seconds * SAMPLE_RATE) / SOUNDS.length)
  const length = samplesPerSound * SOUNDS.length
  return Int16Array.from({ length }, (_, index) => SOUNDS[Math.floor(index / samplesPerSound)]?.[1](index) ?? 0)
}

/**
 * Checks that silence, noise and tones of this length produce no text, and that a sentence after them is transcribed.
 * Without `vad` all of the audio reaches the model.
 */
export const assertNoText = async (t: ExecutionContext, seconds: number, vad = true): Promise<void> => {
  const service = await startTestService(t)
  const client = await service.user('quiet')
  const live = await client.createLive({ config: { vad } })
  t.like(live['config'], { vad })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  const [sentence] = await sampleSentences()
  for (const sounds of [soundsWithoutSpeech(seconds), silence(2), sentence?.samples ?? silence(0), silence(2)])
    for (let start = 0; start < sounds.length; start += 16_000) sender.sendAudio(sounds.slice(start, start + 16_000))
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  const frames = sender.frames.filter((frame) => frame['type'] !== 'connection' && frame['status'] === undefined)
  t.deepEqual(frames.filter(({ start }) => Number(start) < seconds), [])
  t.regex(String(frames.at(-1)?.['text']), /meeting/, 'the sentence is transcribed')
}
