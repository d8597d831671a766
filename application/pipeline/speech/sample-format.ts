import { SAMPLE_RATE } from '../../ports/engine.ts'

/** What samples are that a sender sends in place of 16-bit little-endian ones. */
export type SampleFormat = 'float32' | 'big_endian'

const swapped = (samples: Int16Array): Int16Array =>
  samples.map((sample) => ((sample & 0xff) << 8) | ((sample >> 8) & 0xff))

/** The upper half of a 32-bit float between 2^-26 and 2^17, of either sign: audio as fractions or as whole numbers. */
const isUpperHalf = (sample: number): boolean => {
  const exponent = (sample & 0x7fff) >> 7
  return exponent >= 101 && exponent <= 143
}

/** Pairs of samples, and different upper halves, that are needed for a judgement. A pure tone has few of the latter. */
const MIN_PAIRS = 1000
const MIN_UPPER_HALVES = 5

/**
 * Returns whether pairs of samples are floats: nearly always one of a pair looks like an upper half, and the other one
 * does not. The samples of sound, also with an offset, look alike at even and at odd places.
 */
const holdsFloats = (samples: Int16Array): boolean => {
  const uppers = [new Set<number>(), new Set<number>()] as const
  let [pairs, even, odd] = [0, 0, 0]
  for (let at = 0; at + 1 < samples.length; at += 2) {
    const [first = 0, second = 0] = [samples[at], samples[at + 1]]
    if (first === 0 && second === 0) continue
    pairs += 1
    if (isUpperHalf(first)) even = uppers[0].add(first).size && even + 1
    if (isUpperHalf(second)) odd = uppers[1].add(second).size && odd + 1
  }
  const [most, least, different] = even > odd ? [even, odd, uppers[0].size] : [odd, even, uppers[1].size]
  return pairs >= MIN_PAIRS && most >= 0.98 * pairs && least <= 0.5 * pairs && different >= MIN_UPPER_HALVES
}

interface Shape {
  /** 0 for a slow wave, 1 for white noise, 2 for samples that jump up and down. Not a number for silence. */
  readonly roughness: number
  /** Standard deviation. */
  readonly spread: number
}

const shapeOf = (samples: Int16Array): Shape => {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length
  let [steps, power, before] = [0, 0, samples[0] ?? 0]
  for (const sample of samples) {
    steps += (sample - before) ** 2
    power += (sample - mean) ** 2
    before = sample
  }
  return { roughness: steps / (2 * power), spread: Math.sqrt(power / samples.length) }
}

/** Sound is mostly smoother than this. In the wrong byte order it is rougher than `ROUGH`, if it is not quiet. */
const SMOOTH = 0.5
const ROUGH = 0.75

/** Returns whether samples are small numbers for the most part, and of both signs. Others need no second byte. */
const isLikeSound = (samples: Int16Array): boolean => {
  const shareOf = (has: (sample: number) => boolean): number =>
    samples.reduce((count, sample) => count + (has(sample) ? 1 : 0), 0) / samples.length
  const negative = shareOf((sample) => sample < 0)
  return shareOf((sample) => Math.abs(sample) < 0x2000) > 0.75 && negative > 0.05 && negative < 0.95
}

/** Returns what a second of samples is. Null: nothing is certain, as in silence and noise. */
const judgeSamples = (samples: Int16Array): SampleFormat | 'right' | null => {
  const turned = swapped(samples)
  if (holdsFloats(samples) || holdsFloats(turned)) return 'float32'
  const [sent, other] = [shapeOf(samples), shapeOf(turned)]
  if (sent.roughness < SMOOTH && other.roughness > ROUGH) return 'right'
  // Quiet samples in the wrong byte order are up to 256 times as loud, but less rough than others.
  const isLouder = sent.spread > 8 * other.spread && sent.roughness > 1.25 * other.roughness
  const isWrong = other.roughness < SMOOTH && (sent.roughness > ROUGH || isLouder) && isLikeSound(turned)
  return isWrong ? 'big_endian' : null
}

/** Judges the audio of a sender, second by second, until one second is certain. */
export interface SampleFormatWatch {
  readonly push: (samples: Int16Array) => void
  /** Null: the samples are the wanted ones, or nothing is known yet. */
  readonly found: () => SampleFormat | null
}

/** `onFound` is called once. Silence at the beginning is left out. */
export const watchSampleFormat = (onFound: (format: SampleFormat) => void): SampleFormatWatch => {
  const second = new Int16Array(SAMPLE_RATE)
  let filled = 0
  let judged: SampleFormat | 'right' | null = null

  const judge = (): void => {
    filled = 0
    judged = judgeSamples(second)
    if (judged !== null && judged !== 'right') onFound(judged)
  }

  const push = (samples: Int16Array): void => {
    if (judged !== null || samples.length === 0) return
    const part = samples.subarray(0, second.length - filled)
    second.set(part, filled)
    const isSilence = filled === 0 && part.every((sample) => sample === 0)
    filled = isSilence ? 0 : filled + part.length
    if (filled === second.length) judge()
    push(samples.subarray(part.length))
  }

  return { push, found: () => (judged === 'right' ? null : judged) }
}
