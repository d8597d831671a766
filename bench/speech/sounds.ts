import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import { createRandom } from '../../test/support/tools/seeded.ts'

/** A sound without speech, with 16-bit samples at 16 kHz. Every run makes equal samples. */
export interface Sound {
  readonly name: string
  readonly samples: (seconds: number) => Int16Array
}

const sine = (hertz: number, index: number): number => Math.sin((2 * Math.PI * hertz * index) / SAMPLE_RATE)

const samplesOf = (seconds: number, sample: (index: number) => number): Int16Array =>
  Int16Array.from(
    { length: Math.round(seconds * SAMPLE_RATE) },
    (_, index) => Math.max(-32_768, Math.min(32_767, sample(index))),
  )

/** `createSource` returns a function from the number of a sample to its value. */
const sound = (name: string, createSource: () => (index: number) => number): Sound =>
  ({ name, samples: (seconds) => samplesOf(seconds, createSource()) })

/** Makes noise of a level (root mean square in dB of full scale). Brown noise has mostly low frequencies. */
const noise = (name: string, decibels: number, isBrown: boolean): Sound =>
  sound(name, () => {
    const random = createRandom(name)
    const loudness = 32_768 * 10 ** (decibels / 20) * Math.sqrt(3)
    let last = 0
    return () => {
      const white = 2 * random() - 1
      last = 0.98 * last + 0.2 * white
      return loudness * (isBrown ? last : white)
    }
  })

const MINOR = [0, 3, 5, 7, 10, 12]
const hertzOf = (halfTones: number): number => 110 * 2 ** (halfTones / 12)

/**
 * Makes a plucked string by the algorithm of Karplus and Strong (1983): noise in a loop of one period, smoothed in each
 * cycle.
 */
const pluckedStrings = (name: string, beatsASecond: number, withDrum: boolean): Sound =>
  sound(name, () => {
    const random = createRandom(name)
    const beat = Math.round(SAMPLE_RATE / beatsASecond)
    let loop = new Float32Array(1)
    return (index) => {
      if (index % beat === 0) {
        const tone = MINOR[Math.floor(random() * MINOR.length)] ?? 0
        loop = Float32Array.from({ length: Math.round(SAMPLE_RATE / hertzOf(tone + 12)) }, () => 2 * random() - 1)
      }
      const at = index % loop.length
      const value = loop[at] ?? 0
      loop[at] = 0.498 * (value + (loop[(at + 1) % loop.length] ?? 0))
      const since = (index % (2 * beat)) / SAMPLE_RATE
      const drum = withDrum
        ? 9000 * Math.exp(-30 * since) * sine(60, index) + 5000 * Math.exp(-80 * since) * (2 * random() - 1)
        : 0
      return 9000 * value + drum
    }
  })

/** Organ chords with overtones. The chord changes every two seconds. */
const organ: Sound = sound('organ chords', () => {
  const roots = [0, 5, 7, 3]
  return (index) => {
    const root = roots[Math.floor(index / (2 * SAMPLE_RATE)) % roots.length] ?? 0
    const toneOf = (step: number): number =>
      [1, 2, 3, 4].reduce((tone, n) => tone + (1500 / n) * sine(hertzOf(root + step) * n, index), 0)
    return [0, 3, 7].reduce((sum, step) => sum + toneOf(step), 0)
  }
})

export const SOUNDS: ReadonlyArray<Sound> = [
  sound('digital silence', () => () => 0),
  noise('white noise at -60 dB', -60, false),
  noise('white noise at -40 dB', -40, false),
  noise('white noise at -20 dB', -20, false),
  noise('brown noise at -25 dB', -25, true),
  sound('hum of 50 Hz', () => (i) => 3000 * sine(50, i) + 1000 * sine(150, i)),
  sound('tone of 1 kHz', () => (i) => 6000 * sine(1000, i)),
  sound('beeps', () => (i) => (i % SAMPLE_RATE < SAMPLE_RATE / 5 ? 8000 * sine(800, i) : 0)),
  sound('clicks', () => (i) => (i % (SAMPLE_RATE / 2) < 8 ? 20_000 : 0)),
  sound('siren', () => (i) => 6000 * sine(700 + 200 * Math.sin(i / SAMPLE_RATE), i)),
  organ,
  pluckedStrings('plucked strings', 3, false),
  pluckedStrings('plucked strings and a drum', 4, true),
]
