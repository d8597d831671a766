import { alignWords } from '../../../../domain/transcript/word-alignment.ts'
import { spokenForm } from '../words.ts'
import type { SpokenWord } from './words.ts'

type Words = ReadonlyArray<SpokenWord>

/** How sure an account is of a place where it has no word. */
const NO_WORD = 0.5

/** Geometric mean of the probabilities of all their tokens, of no words even. */
export const sureness = (words: Words): number => {
  const tokens = words.reduce((sum, { spoken }) => sum + spoken, 0)
  if (tokens === 0) return NO_WORD
  return Math.exp(words.reduce((sum, { spoken, confidence }) => sum + spoken * Math.log(confidence), 0) / tokens)
}

const formsOf = (words: Words): ReadonlyArray<string> => words.map(({ text }) => spokenForm(text))

/** The two accounts' times differ a little. */
const inOrder = (words: Words): Words => {
  let behind = 0
  return words.map((word) => {
    const start = Math.max(word.start, behind)
    behind = Math.max(word.end, start)
    return { ...word, start, end: behind }
  })
}

/**
 * Of two accounts of the same audio, wherever they differ, the words that their own account was surer of; those that are in
 * both as `later` has them. (ROVER, Fiscus 1997, votes between recognisers like this.)
 */
export const surerWords = (earlier: Words, later: Words): Words => {
  const { matches } = alignWords(formsOf(earlier), formsOf(later))
  const ends = [...matches, [earlier.length, later.length] as const]
  const surer = ends.flatMap(([k, l], n) => {
    const [i, j] = matches[n - 1] ?? [-1, -1]
    const [was, is] = [earlier.slice(i + 1, k), later.slice(j + 1, l)]
    return [...(sureness(was) > sureness(is) ? was : is), ...later.slice(l, l + 1)]
  })
  return inOrder(surer)
}
