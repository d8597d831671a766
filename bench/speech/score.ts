import { alignWords } from '../../domain/transcript/word-alignment.ts'
import type { Alignment } from '../../domain/transcript/word-alignment.ts'
import { tokensOf } from './words.ts'
import type { Token } from './numbers.ts'

/** What is wrong with a text, in words (characters where the language has no spaces). */
export interface Errors {
  /** Of the reference. */
  readonly words: number
  readonly substituted: number
  readonly inserted: number
  readonly deleted: number
  /** Ends of sentences where the reference has none. */
  readonly false_ends: number
  /** Capital letters of words that the reference writes with a small one. */
  readonly false_capitals: number
}

export const NO_ERRORS: Errors = { words: 0, substituted: 0, inserted: 0, deleted: 0, false_ends: 0, false_capitals: 0 }

/** Words between two that are right: `spoken` of the reference, `heard` of the hypothesis; half-open ranges. */
export interface Gap {
  readonly spoken: readonly [from: number, to: number]
  readonly heard: readonly [from: number, to: number]
}

/** The gaps between the matches of two lists of words, from before the first match to behind the last. */
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
  /** Those that hold a word, in order. */
  readonly gaps: ReadonlyArray<Gap>
  readonly errors: Errors
}

const lengthOf = ([from, to]: readonly [number, number]): number => to - from

/** How many words of a gap are substituted, inserted and deleted: those in pairs are substituted. */
export const errorsIn = ({ spoken, heard }: Gap): Pick<Errors, 'substituted' | 'inserted' | 'deleted'> => {
  const substituted = Math.min(lengthOf(spoken), lengthOf(heard))
  return { substituted, inserted: lengthOf(heard) - substituted, deleted: lengthOf(spoken) - substituted }
}

/** Where words differ, an end anywhere among the differing words of the reference excuses one among those heard. */
type Tokens = ReadonlyArray<Token>

const falseEndsIn = (reference: Tokens, hypothesis: Tokens, all: ReadonlyArray<Gap>): number =>
  all.reduce((sum, { spoken, heard }) => {
    // A gap begins with the word that is right before it: an end stands behind a word.
    const ends = (tokens: ReadonlyArray<Token>, [from, to]: readonly [number, number]): number =>
      tokens.slice(Math.max(0, from - 1), to).filter(({ ends }) => ends).length
    return sum + Math.max(0, ends(hypothesis, heard) - ends(reference, spoken))
  }, 0)

/** Holds a text against what was said. */
export const compareTexts = (said: string, text: string, language: string): Compared => {
  const [reference, hypothesis] = [tokensOf(said, language), tokensOf(text, language)]
  const { matches } = alignWords(reference.map(({ word }) => word), hypothesis.map(({ word }) => word))
  const all = gapsBetween(matches, reference.length, hypothesis.length)
  const gaps = all.filter(({ spoken, heard }) => lengthOf(spoken) + lengthOf(heard) > 0)
  // The first word of a text has a capital whatever the reference begins with.
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

/** Word error rate in percent; null where nothing was said. */
export const rateOf = ({ words, substituted, inserted, deleted }: Errors): number | null =>
  words === 0 ? null : (100 * (substituted + inserted + deleted)) / words

/** Words that were heard, of 100; what was heard too much does not count. */
export const recallOf = ({ words, substituted, deleted }: Errors): number | null =>
  words === 0 ? null : (100 * (words - substituted - deleted)) / words
