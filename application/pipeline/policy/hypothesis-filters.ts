import type { Hypothesis } from '../../ports/engine.ts'
import type { DiscardedWords, DiscardCause } from './policy.ts'
import { spokenForm } from './words.ts'

/** The thresholds of the original Whisper decoder. */
const MAX_COMPRESSION = 2.4
const MIN_LOGPROB = -1
const MAX_NO_SPEECH = 0.6

/**
 * Models write words such as `The` for beeps. So when no detector found speech, a text of up to FEW_WORDS words needs a
 * higher log probability.
 */
const FEW_WORDS = 2
const MIN_LOGPROB_OF_FEW = -0.45

/**
 * The quality of a pass. `words`: usable. `silence`: the audio contains no speech. `rejected`: unusable. `doubtful`:
 * may become usable with more audio.
 */
export type Verdict = 'words' | 'silence' | 'rejected' | 'doubtful'

/** A word repeated this often is a loop. */
const MAX_WORD_REPEATS = 8
/** A phrase of 2 to 8 words repeated this often is a loop, if the repetition has at least 12 words. */
const MAX_PHRASE_REPEATS = 3
const MAX_PHRASE_WORDS = 8
const MIN_LOOP_WORDS = 12

const repetitionsAt = (words: ReadonlyArray<string>, from: number, length: number): number => {
  let count = 1
  while (words.slice(from, from + length).every((word, i) => word === words[from + count * length + i])) count += 1
  return count
}

/** Returns whether the decoder is stuck and repeats a word or a phrase. */
export const isLoop = (words: ReadonlyArray<string>): boolean =>
  words.some((_, from) => {
    if (repetitionsAt(words, from, 1) >= MAX_WORD_REPEATS) return true
    for (let length = 2; length <= MAX_PHRASE_WORDS && from + 2 * length <= words.length; length += 1) {
      const count = repetitionsAt(words, from, length)
      if (count >= MAX_PHRASE_REPEATS && count * length >= MIN_LOOP_WORDS) return true
    }
    return false
  })

const spokenWords = ({ segments }: Hypothesis): ReadonlyArray<string> =>
  segments.flatMap(({ text }) => text.split(/\s+/u)).map(spokenForm).filter((word) => word !== '')

/**
 * Judges a pass by its scores and its text.
 *
 * @param detected whether a detector found speech in the audio
 */
export const judge = (hypothesis: Hypothesis, detected = true): Verdict => {
  const words = spokenWords(hypothesis)
  if (words.length === 0) return 'silence'
  if (hypothesis.noSpeechProb > MAX_NO_SPEECH && hypothesis.avgLogprob < MIN_LOGPROB) return 'silence'
  if (hypothesis.compressionRatio > MAX_COMPRESSION || hypothesis.avgLogprob < MIN_LOGPROB) return 'rejected'
  if (isLoop(words)) return 'rejected'
  return !detected && words.length <= FEW_WORDS && hypothesis.avgLogprob < MIN_LOGPROB_OF_FEW ? 'doubtful' : 'words'
}

/** Returns the cause for which a verdict discards words. A doubtful text counts as rejected. */
export const discardCauseOf = (verdict: Exclude<Verdict, 'words'> | 'loop'): DiscardCause =>
  verdict === 'doubtful' ? 'rejected' : verdict

/** Returns the words that the verdict of a pass discards, or null when it discards no words. */
export const discardedBy = (hypothesis: Hypothesis, detected: boolean): DiscardedWords | null => {
  const [verdict, words] = [judge(hypothesis, detected), spokenWords(hypothesis).length]
  return verdict === 'words' || words === 0 ? null : { cause: discardCauseOf(verdict), words }
}
