import { alignWords, type Alignment } from '../../domain/transcript/word-alignment.ts'
import { tokensOf } from './words.ts'
import type { Token } from './numbers.ts'

/** The errors of a text in words; in characters for languages without spaces. */
export interface Errors {
  /** Number of words of the reference. */
  readonly words: number
  readonly substituted: number
  readonly inserted: number
  readonly deleted: number
  /** Sentence ends that the reference does not have. */
  readonly false_ends: number
  /** Capitalised words that the reference writes in lower case. */
  readonly false_capitals: number
}

export const NO_ERRORS: Errors = { words: 0, substituted: 0, inserted: 0, deleted: 0, false_ends: 0, false_capitals: 0 }

/** The words between two matches: `spoken` in the reference, `heard` in the hypothesis. Half-open ranges. */
export interface Gap {
  readonly spoken: readonly [from: number, to: number]
  readonly heard: readonly [from: number, to: number]
}

/** Returns the gaps between matches, including the gaps before the first match and after the last match. */
const gapsBetween = (matches: Alignment['matches'], spoken: number, heard: number): ReadonlyArray<Gap> => {
  const ends = [...matches, [spoken, heard] as const]
  return ends.map(([toSpoken, toHeard], i) => {
    const [before, beforeHeard] = matches[i - 1] ?? [-1, -1]
    return { spoken: [before + 1, toSpoken], heard: [beforeHeard + 1, toHeard] }
  })
}

export interface Compared {
  readonly reference: ReadonlyArray<Token>
  readonly hypothesis: ReadonlyArray<Token>
  readonly matches: Alignment['matches']
  /** The gaps with at least one word, in order. */
  readonly gaps: ReadonlyArray<Gap>
  readonly errors: Errors
}

const lengthOf = ([from, to]: readonly [number, number]): number => to - from

/** Counts the errors of a gap. Paired words count as substituted, the rest as inserted or deleted. */
export const errorsIn = ({ spoken, heard }: Gap): Pick<Errors, 'substituted' | 'inserted' | 'deleted'> => {
  const substituted = Math.min(lengthOf(spoken), lengthOf(heard))
  return { substituted, inserted: lengthOf(heard) - substituted, deleted: lengthOf(spoken) - substituted }
}

type Tokens = ReadonlyArray<Token>

/** Counts false sentence ends. Within a gap each end of the reference allows one end of the hypothesis at any place. */
const falseEndsIn = (reference: Tokens, hypothesis: Tokens, all: ReadonlyArray<Gap>): number =>
  all.reduce((sum, { spoken, heard }) => {
    // An end belongs to the word before it, so each range includes the matched word before the gap.
    const ends = (tokens: ReadonlyArray<Token>, [from, to]: readonly [number, number]): number =>
      tokens.slice(Math.max(0, from - 1), to).filter((token) => token.ends).length
    return sum + Math.max(0, ends(hypothesis, heard) - ends(reference, spoken))
  }, 0)

/** Compares a text with the reference. */
export const compareTexts = (said: string, text: string, language: string): Compared => {
  const [reference, hypothesis] = [tokensOf(said, language), tokensOf(text, language)]
  const { matches } = alignWords(reference.map(({ word }) => word), hypothesis.map(({ word }) => word))
  const all = gapsBetween(matches, reference.length, hypothesis.length)
  const gaps = all.filter(({ spoken, heard }) => lengthOf(spoken) + lengthOf(heard) > 0)
  // The first word of a text is always capitalised, so it does not count.
  const falseCapitals = matches.filter(
    ([i, j]) => j > 0 && hypothesis[j]?.capital === true && reference[i]?.capital === false,
  )
  const errors = gaps.map(errorsIn).reduce<Errors>(
    (sum, { substituted, inserted, deleted }) => ({
      ...sum,
      substituted: sum.substituted + substituted,
      inserted: sum.inserted + inserted,
      deleted: sum.deleted + deleted,
    }),
    {
      ...NO_ERRORS,
      words: reference.length,
      false_ends: falseEndsIn(reference, hypothesis, all),
      false_capitals: falseCapitals.length,
    },
  )
  return { reference, hypothesis, matches, gaps, errors }
}

export const sumOf = (all: ReadonlyArray<Errors>): Errors =>
  all.reduce(
    (sum, errors) => ({
      words: sum.words + errors.words,
      substituted: sum.substituted + errors.substituted,
      inserted: sum.inserted + errors.inserted,
      deleted: sum.deleted + errors.deleted,
      false_ends: sum.false_ends + errors.false_ends,
      false_capitals: sum.false_capitals + errors.false_capitals,
    }),
    NO_ERRORS,
  )

/** Returns the word error rate in percent; null for an empty reference. */
export const rateOf = ({ words, substituted, inserted, deleted }: Errors): number | null =>
  words === 0 ? null : (100 * (substituted + inserted + deleted)) / words

/** Returns the percentage of reference words that were transcribed. Insertions do not count. */
export const recallOf = ({ words, substituted, deleted }: Errors): number | null =>
  words === 0 ? null : (100 * (words - substituted - deleted)) / words
