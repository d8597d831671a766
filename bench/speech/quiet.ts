import { foldSpeech, INITIAL_SEGMENTER, PAD } from '../../application/pipeline/speech/speech-segmenter.ts'
import { SAMPLE_RATE, VAD_FRAME } from '../../application/ports/engine.ts'
import type { SpeechEngine, SpeechProbabilities, VadState } from '../../application/ports/engine.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import type { SpokenWord } from './screen.ts'

/** Nobody speaks, in seconds. */
export interface Quiet {
  readonly start: number
  readonly end: number
}

/** Frames that are judged at once: four seconds. */
const FRAMES = 125

/** Where nobody speaks, by each frame's probability and the pipeline's rules for where speech begins and ends. */
export const quietsOf = (probabilities: ArrayLike<number>, samples: number): ReadonlyArray<Quiet> => {
  const { phrases } = foldSpeech(INITIAL_SEGMENTER, probabilities, Infinity)
  const regions = phrases.flatMap(({ regions }) => regions)
  // The pipeline hears a little more than what the detector calls speech.
  const starts = [0, ...regions.map(({ end }) => (end === null ? samples : end - PAD))]
  const ends = [...regions.map(({ start }) => (start === 0 ? 0 : start + PAD)), samples]
  return starts
    .map((start, i) => ({ start: start / SAMPLE_RATE, end: (ends[i] ?? 0) / SAMPLE_RATE }))
    .filter(({ start, end }) => end > start)
}

/** Where nobody speaks in a recording, by the product's detector over all of it. */
export const hearQuiets = async (
  engine: Pick<SpeechEngine, 'detectSpeech'>,
  samples: Int16Array,
): Promise<ReadonlyArray<Quiet>> => {
  const filled = new Int16Array(Math.ceil(samples.length / VAD_FRAME) * VAD_FRAME)
  filled.set(samples)
  const probabilities: Array<number> = []
  let state: VadState = null
  for (let from = 0; from < filled.length; from += FRAMES * VAD_FRAME) {
    const frames = filled.subarray(from, from + FRAMES * VAD_FRAME)
    const judged: SpeechProbabilities = orThrow(await engine.detectSpeech(frames, state)())
    probabilities.push(...judged.probabilities)
    state = judged.state
  }
  return quietsOf(probabilities, samples.length)
}

/** The word where it sounds: times by cross-attention stretch over silence; the longer piece beside it is the word. */
export const soundingPart = (word: SpokenWord, quiets: ReadonlyArray<Quiet>): SpokenWord =>
  quiets.reduce<SpokenWord>((part, quiet) => {
    const [before, behind] = [quiet.start - part.start, part.end - quiet.end]
    if (quiet.end <= part.start || quiet.start >= part.end || Math.max(before, behind) <= 0) return part
    return before >= behind ? { ...part, end: quiet.start } : { ...part, start: quiet.end }
  }, word)
