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
export const soundsWithoutSpeech = (seconds: number): Int16Array => {
  const samplesPerSound = Math.ceil((seconds * SAMPLE_RATE) / SOUNDS.length)
  const length = samplesPerSound * SOUNDS.length
  return Int16Array.from({ length }, (_, index) => SOUNDS[Math.floor(index / samplesPerSound)]?.[1](index) ?? 0)
}
