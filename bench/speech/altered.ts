import { SAMPLE_RATE } from '../../application/ports/engine.ts'
import { createRandom } from '../../test/support/tools/seeded.ts'
import type { Recording } from './recordings.ts'
import { endsSentence } from './words.ts'

/** Changes to recordings before the transcription. */
export interface Alterations {
  /** Signal-to-noise ratio of the added noise, in decibels. */
  readonly noise?: number
  /** Seconds of added silence between sentences. */
  readonly pauses?: number
}

/** Audio with the times of its words. */
type Spoken = Pick<Recording, 'words'> & { readonly samples: Int16Array }

const FRAME_SAMPLES = SAMPLE_RATE / 50
/** Frames below this part of the mean power count as pauses. The margin is that of ITU-T P.56 (15.9 dB). */
const MARGIN = 10 ** -1.59

const powerOf = (samples: Int16Array | Float64Array): number => {
  let sum = 0
  for (const sample of samples) sum += sample * sample
  return samples.length === 0 ? 0 : sum / samples.length
}

/** Returns the mean power of the frames with speech. */
export const activePower = (samples: Int16Array): number => {
  const frames = Array.from({ length: Math.floor(samples.length / FRAME_SAMPLES) }, (_, i) =>
    powerOf(samples.subarray(i * FRAME_SAMPLES, (i + 1) * FRAME_SAMPLES)),
  )
  const threshold = MARGIN * powerOf(samples)
  const active = frames.filter((power) => power >= threshold)
  return active.reduce((sum, power) => sum + power, 0) / Math.max(1, active.length)
}

/** Makes pink noise with Paul Kellet's three filters. Its spectrum is closer to speech than that of white noise. */
const pinkNoise = (length: number, seed: string): Float64Array => {
  const random = createRandom(seed)
  let [a, b, c] = [0, 0, 0]
  return Float64Array.from({ length }, () => {
    const white = 2 * random() - 1
    a = 0.99765 * a + white * 0.099046
    b = 0.963 * b + white * 0.2965164
    c = 0.57 * c + white * 1.0526913
    return a + b + c + white * 0.1848
  })
}

/** Adds pink noise, `decibels` below the speech. Scales the sum down if it would clip. */
export const withNoise = (samples: Int16Array, decibels: number, seed: string): Int16Array => {
  const noise = pinkNoise(samples.length, seed)
  const loudness = Math.sqrt(activePower(samples) / (powerOf(noise) || 1)) * 10 ** (-decibels / 20)
  const sum = noise.map((value, i) => loudness * value + (samples[i] ?? 0))
  const scale = Math.min(1, 32_767 / sum.reduce((most, value) => Math.max(most, Math.abs(value)), 1))
  return Int16Array.from(sum, (value) => Math.round(scale * value))
}

const TENTH_SAMPLES = SAMPLE_RATE / 10

/** Returns the start of the quietest tenth of a second in a range of samples. */
const quietestTenth = (samples: Int16Array, from: number, to: number): number => {
  const count = Math.max(1, Math.floor((to - from - TENTH_SAMPLES) / FRAME_SAMPLES) + 1)
  const starts = Array.from({ length: count }, (_, i) => from + i * FRAME_SAMPLES)
  const powers = starts.map((start) => powerOf(samples.subarray(start, start + TENTH_SAMPLES)))
  return starts[powers.indexOf(Math.min(...powers))] ?? from
}

/** Fills `length` samples with a piece of sound, played forwards and backwards in turn. */
const forwardsAndBackwards = (piece: Int16Array, length: number): Int16Array =>
  Int16Array.from({ length }, (_, i) => {
    const at = i % (2 * piece.length)
    return piece[at < piece.length ? at : 2 * piece.length - 1 - at] ?? 0
  })

/** Adds pauses between sentences, filled with the quietest noise of the recording. Needs word times. */
export const withPauses = ({ samples, words }: Spoken, seconds: number): Spoken => {
  const middle = (index: number): number => {
    const [start, end] = words[index] ?? [0, 0]
    return Math.round(((start + end) / 2) * SAMPLE_RATE)
  }
  const ends = words.flatMap(([, , text], i) => (i < words.length - 1 && endsSentence(text) ? [i] : []))
  const cuts = ends.map((i) => quietestTenth(samples, middle(i), middle(i + 1)) + TENTH_SAMPLES / 2)
  const quietest = quietestTenth(samples, 0, samples.length)
  const pause = forwardsAndBackwards(
    samples.slice(quietest, quietest + TENTH_SAMPLES),
    Math.round(seconds * SAMPLE_RATE),
  )
  const sentences = [0, ...cuts].map((cut, i) => samples.subarray(cut, cuts[i] ?? samples.length))
  const pieces = sentences.flatMap((sentence, i) => (i > 0 ? [pause, sentence] : [sentence]))
  const longer = new Int16Array(samples.length + cuts.length * pause.length)
  let at = 0
  for (const piece of pieces) {
    longer.set(piece, at)
    at += piece.length
  }
  // Word times are inexact, so each word is clipped to its sentence, between the cut before and the cut after it.
  const moved = words.map(([start, end, text], i): readonly [number, number, string] => {
    const before = ends.filter((last) => last < i).length
    const [from, to] = [(cuts[before - 1] ?? 0) / SAMPLE_RATE, (cuts[before] ?? samples.length) / SAMPLE_RATE]
    return [Math.max(start, from) + before * seconds, Math.min(end, to) + before * seconds, text]
  })
  return { samples: longer, words: moved }
}

/** Returns the changed samples and words of a recording. */
export const altered = async (recording: Recording, { noise, pauses }: Alterations): Promise<Spoken> => {
  const [samples, { words, name }] = [await recording.samples(), recording]
  const longer = pauses === undefined ? { samples, words } : withPauses({ samples, words }, pauses)
  return noise === undefined ? longer : { ...longer, samples: withNoise(longer.samples, noise, name) }
}
