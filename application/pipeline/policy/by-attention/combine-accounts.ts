import { alignWords } from '../../../../domain/transcript/word-alignment.ts'
import { spokenForm } from '../words.ts'
import type { SpokenWord } from './words.ts'

type Words = ReadonlyArray<SpokenWord>

/** Confidence of an account at a position where it has no word. */
const NO_WORD_CONFIDENCE = 0.5

/** Returns the geometric mean of the token confidences; NO_WORD_CONFIDENCE for no words. */
export const meanConfidence = (words: Words): number => {
  const tokens = words.reduce((sum, { spoken }) => sum + spoken, 0)
  if (tokens === 0) return NO_WORD_CONFIDENCE
  return Math.exp(words.reduce((sum, { spoken, confidence }) => sum + spoken * Math.log(confidence), 0) / tokens)
}

const formsOf = (words: Words): ReadonlyArray<string> => words.map(({ text }) => spokenForm(text))

/** Removes overlaps, because the times of the two accounts differ slightly. */
const inOrder = (words: Words): Words => {
  let lastEnd = 0
  return words.map((word) => {
    const start = Math.max(word.start, lastEnd)
    lastEnd = Math.max(word.end, start)
    return { ...word, start, end: lastEnd }
  })
}

/**
 * Combines two transcriptions of the same audio. Where they differ, takes the words with the higher confidence; equal
 * words come from `later`. The method follows ROVER (Fiscus, 1997).
 */
export const combineAccounts = (earlier: Words, later: Words): Words => {
  const { matches } = alignWords(formsOf(earlier), formsOf(later))
  const ends = [...matches, [earlier.length, later.length] as const]
  const surer = ends.flatMap(([k, l], n) => {
    const [i, j] = matches[n - 1] ?? [-1, -1]
    const [old, fresh] = [earlier.slice(i + 1, k), later.slice(j + 1, l)]
    return [...(meanConfidence(old) > meanConfidence(fresh) ? old : fresh), ...later.slice(l, l + 1)]
  })
  return inOrder(surer)
}
