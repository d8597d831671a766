import type { Hypothesis } from '../../ports/engine.ts'
import type { LeftOut, LeftOutCause } from './policy.ts'
import { spokenForm } from './words.ts'

/** Thresholds of Whisper's own decoding. */
const MAX_COMPRESSION = 2.4
const MIN_LOGPROB = -1
const MAX_NO_SPEECH = 0.6

/** Where no detector found speech, a text of so few words is taken only when the model is this sure: it says `The` of beeps, too. */
const FEW_WORDS = 2
const MIN_LOGPROB_OF_FEW = -0.45

/**
 * What a pass is worth: `words` may be used, `silence` says that there was no speech, `rejected` says nothing, `doubtful`
 * may become words when more of the audio is heard.
 */
export type Verdict = 'words' | 'silence' | 'rejected' | 'doubtful'

/** One word this often in a row is a loop. */
const WORD_RUN = 8
/** A phrase of 2 to 8 words this often in a row is a loop once the run has 12 words. */
const PHRASE_RUN = 3
const LONGEST_PHRASE = 8
const SHORTEST_LOOP = 12

const repetitionsAt = (words: ReadonlyArray<string>, from: number, length: number): number => {
  let count = 1
  while (words.slice(from, from + length).every((word, i) => word === words[from + count * length + i])) count += 1
  return count
}

/** Whether a decoder got stuck: the same word or the same phrase again and again. */
export const isLoop = (words: ReadonlyArray<string>): boolean =>
  words.some((_, from) => {
    if (repetitionsAt(words, from, 1) >= WORD_RUN) return true
    for (let length = 2; length <= LONGEST_PHRASE && from + 2 * length <= words.length; length += 1) {
      const count = repetitionsAt(words, from, length)
      if (count >= PHRASE_RUN && count * length >= SHORTEST_LOOP) return true
    }
    return false
  })

const spokenWords = ({ segments }: Hypothesis): ReadonlyArray<string> =>
  segments.flatMap(({ text }) => text.split(/\s+/u)).map(spokenForm).filter((word) => word !== '')

/**
 * Judges a pass by its scores and by its text.
 *
 * @param detected whether a detector found speech in its audio
 */
export const judge = (hypothesis: Hypothesis, detected = true): Verdict => {
  const words = spokenWords(hypothesis)
  if (words.length === 0) return 'silence'
  if (hypothesis.noSpeechProb > MAX_NO_SPEECH && hypothesis.avgLogprob < MIN_LOGPROB) return 'silence'
  if (hypothesis.compressionRatio > MAX_COMPRESSION || hypothesis.avgLogprob < MIN_LOGPROB) return 'rejected'
  if (isLoop(words)) return 'rejected'
  return !detected && words.length <= FEW_WORDS && hypothesis.avgLogprob < MIN_LOGPROB_OF_FEW ? 'doubtful' : 'words'
}

/** Why words that were heard are left out; a doubtful text is one with bad scores. */
export const causeOf = (verdict: Exclude<Verdict, 'words'> | 'loop'): LeftOutCause => (verdict === 'doubtful' ? 'rejected' : verdict)

/** The words of a pass that its verdict leaves out; null where there are none. */
export const leftOutOf = (hypothesis: Hypothesis, detected: boolean): LeftOut | null => {
  const [verdict, words] = [judge(hypothesis, detected), spokenWords(hypothesis).length]
  return verdict === 'words' || words === 0 ? null : { cause: causeOf(verdict), words }
}
