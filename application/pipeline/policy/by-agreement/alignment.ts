import { TIME_TOLERANCE_SECONDS } from './local-agreement.ts'
import { spokenForm, type Word } from '../words.ts'

/** Edit cost of a word that only one of the two texts contains. */
const GAP_COST = 0.8
/** The same cost at the start of the audio, where a cut may remove all or half of a word. */
const FRONT_GAP_COST = 0.4
/** Cost for each second between the end of the known words and the estimated end of their repetition. */
const TIME_COST = 0.3
/** Limit of this cost, because estimated times can be very wrong. */
const MAX_TIME_COST = 0.3

/** Returns the share of different letters, from 0 (equal) to 1. */
const difference = (a: string, b: string): number => {
  if (a === b) return 0
  const [x, y] = [[...a], [...b]]
  let row = y.map((_, j) => j + 1)
  for (const [i, letter] of x.entries()) {
    let [diagonal, left] = [i, i + 1]
    row = row.map((above, j) => {
      const cost = Math.min(above + 1, left + 1, diagonal + (letter === y[j] ? 0 : 1))
      diagonal = above
      left = cost
      return cost
    })
  }
  return (row.at(-1) ?? x.length) / Math.max(x.length, y.length)
}

/**
 * Counts the words at the start of a pass that repeat known words. They are the prefix of `words` with the least edit
 * distance to `known`. Both begin with the same audio, so the count hardly depends on the model's word times.
 */
const repeatedPrefix = (known: ReadonlyArray<Word>, words: ReadonlyArray<Word>): number => {
  const last = known.at(-1)
  if (last === undefined) return 0
  const [knownForms, newForms] = [known.map(({ text }) => spokenForm(text)), words.map(({ text }) => spokenForm(text))]
  let row = [0, ...newForms.map((_, j) => (j + 1) * FRONT_GAP_COST)]
  for (const [i, word] of knownForms.entries()) {
    const next = [(i + 1) * FRONT_GAP_COST]
    for (const [j, other] of newForms.entries()) {
      const both = (row[j] ?? 0) + difference(word, other)
      next.push(Math.min(both, (row[j + 1] ?? 0) + GAP_COST, (next[j] ?? 0) + GAP_COST))
    }
    row = next
  }
  const costs = row.map((cost, j) => {
    const end = j === 0 ? (words[0]?.start ?? last.end) : (words[j - 1]?.end ?? last.end)
    return cost + Math.min(MAX_TIME_COST, TIME_COST * Math.abs(end - last.end))
  })
  return costs.indexOf(Math.min(...costs))
}

/** Moves and compresses the times of words, so no word starts before `time` (seconds). The last end stays. */
const startingAt = (words: ReadonlyArray<Word>, time: number): ReadonlyArray<Word> => {
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined || first.start >= time) return words
  const scale = last.end > first.start ? Math.max(0, last.end - time) / (last.end - first.start) : 0
  const moved = (at: number): number => time + (at - first.start) * scale
  return words.map((word) => ({ ...word, start: moved(word.start), end: moved(word.end) }))
}

/**
 * Gives repeated words of a pass the times of the known words, and moves new words after them. `newWordsOf` drops words
 * by their start times. With these times it drops exactly the repeated words.
 */
export const withKnownTimes = (known: ReadonlyArray<Word>, words: ReadonlyArray<Word>): ReadonlyArray<Word> => {
  const last = known.at(-1)
  if (last === undefined) return words
  const count = repeatedPrefix(known, words)
  const latestStart = last.end - 2 * TIME_TOLERANCE_SECONDS
  const repeated = words.slice(0, count).map((word, i) => {
    const before = known[Math.max(0, known.length - count) + i] ?? last
    return { text: word.text, start: Math.min(before.start, latestStart), end: before.end }
  })
  return [...repeated, ...startingAt(words.slice(count), last.end)]
}
