import { foldSpeech, INITIAL_SEGMENTER, PAD_SAMPLES } from '../../application/pipeline/speech/speech-segmenter.ts'
import {
  SAMPLE_RATE, VAD_FRAME, type SpeechEngine, type SpeechProbabilities, type VadState,
} from '../../application/ports/engine.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import type { SpokenWord } from './screen.ts'

/** A time without speech, in seconds. */
export interface Quiet {
  readonly start: number
  readonly end: number
}

/** Number of frames in one call of the detector: four seconds. */
const FRAMES = 125

/**
 * Finds the times without speech, by the probability of each frame and the pipeline's rules for begin and end of
 * speech.
 */
export const quietsOf = (probabilities: ArrayLike<number>, samples: number): ReadonlyArray<Quiet> => {
  const { phrases } = foldSpeech(INITIAL_SEGMENTER, probabilities, Infinity)
  const regions = phrases.flatMap(({ regions }) => regions)
  // The pipeline pads each detected region, so the padding is removed here.
  const starts = [0, ...regions.map(({ end }) => (end === null ? samples : end - PAD_SAMPLES))]
  const ends = [...regions.map(({ start }) => (start === 0 ? 0 : start + PAD_SAMPLES)), samples]
  return starts
    .map((start, i) => ({ start: start / SAMPLE_RATE, end: (ends[i] ?? 0) / SAMPLE_RATE }))
    .filter(({ start, end }) => end > start)
}

/** Runs the product's detector over a recording and returns the times without speech. */
export const detectQuiets = async (
  engine: Pick<SpeechEngine, 'detectSpeech'>,
  samples: Int16Array,
): Promise<ReadonlyArray<Quiet>> => {
  const filled = new Int16Array(Math.ceil(samples.length / VAD_FRAME) * VAD_FRAME)
  filled.set(samples)
  const probabilities: Array<number> = []
  let state: VadState = null
  for (let from = 0; from < filled.length; from += FRAMES * VAD_FRAME) {
    const frames = filled.subarray(from, from + FRAMES * VAD_FRAME)
    const judged: SpeechProbabilities = orThrow(await engine.detectSpeech(frames, state))
    probabilities.push(...judged.probabilities)
    state = judged.state
  }
  return quietsOf(probabilities, samples.length)
}

/**
 * Shortens a word's time to its sounding part. Times from cross-attention may span a silence. The longer part, before
 * or after the silence, is then taken as the word.
 */
export const soundingPart = (word: SpokenWord, quiets: ReadonlyArray<Quiet>): SpokenWord =>
  quiets.reduce<SpokenWord>((part, quiet) => {
    const [before, after] = [quiet.start - part.start, part.end - quiet.end]
    if (quiet.end <= part.start || quiet.start >= part.end || Math.max(before, after) <= 0) return part
    return before >= after ? { ...part, end: quiet.start } : { ...part, start: quiet.end }
  }, word)
