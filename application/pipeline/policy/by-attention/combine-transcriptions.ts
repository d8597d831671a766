import { alignWords } from '../../../../domain/transcript/word-alignment.ts'
import { spokenForm } from '../words.ts'
import type { SpokenWord } from './words.ts'

type Words = ReadonlyArray<SpokenWord>

/** Confidence of a transcription at a position where it has no word. */
const NO_WORD_CONFIDENCE = 0.5

/** Returns the geometric mean of the token confidences, or NO_WORD_CONFIDENCE when there are no words. */
export const meanConfidence = (words: Words): number => {
  const tokens = words.reduce((sum, { spoken }) => sum + spoken, 0)
  if (tokens === 0) return NO_WORD_CONFIDENCE
  return Math.exp(words.reduce((sum, { spoken, confidence }) => sum + spoken * Math.log(confidence), 0) / tokens)
}

const formsOf = (words: Words): ReadonlyArray<string> => words.map(({ text }) => spokenForm(text))

/** Removes overlaps, because the times of the two transcriptions differ slightly. */
const inOrder = (words: Words): Words => {
  let lastEnd = 0
  return words.map((word) => {
    const start = Math.max(word.start, lastEnd)
    lastEnd = Math.max(word.end, start)
    return { ...word, start, end: lastEnd }
  })
}

/**
 * Combines two transcriptions of the same audio. Equal words come from `later`. Between them, the transcription with
 * the higher confidence wins. The method follows ROVER (Fiscus, 1997).
 */
export const combineTranscriptions = (earlier: Words, later: Words): Words => {
  const { matches } = alignWords(formsOf(earlier), formsOf(later))
  const ends = [...matches, [earlier.length, later.length] as const]
  const combined = ends.flatMap(([earlierEnd, laterEnd], n) => {
    const [earlierMatch, laterMatch] = matches[n - 1] ?? [-1, -1]
    const [old, fresh] = [earlier.slice(earlierMatch + 1, earlierEnd), later.slice(laterMatch + 1, laterEnd)]
    return [...(meanConfidence(old) > meanConfidence(fresh) ? old : fresh), ...later.slice(laterEnd, laterEnd + 1)]
  })
  return inOrder(combined)
}
