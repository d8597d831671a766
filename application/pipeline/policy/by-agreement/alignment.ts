import { TIME_TOLERANCE } from './local-agreement.ts'
import type { Word } from '../words.ts'
import { spokenForm } from '../words.ts'

/** A word that only one of the two sides has. */
const GAP = 0.8
/** The same at the front of the audio, where a cut may have left half a word or none. */
const FRONT_GAP = 0.4
/** For each second between the end of the known words and the estimated end of what is taken for them, and at most. */
const TIME_COST = 0.3
const MAX_TIME_COST = 0.3

/** Share of letters that differ, from 0 (equal) to 1. */
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
 * How many words at the front of a pass only say again what is known already: the prefix of `words` with the least
 * edit distance to `known`. Both begin with the same audio buffer, so this does not depend on the model's word times.
 */
const repeatedPrefix = (known: ReadonlyArray<Word>, words: ReadonlyArray<Word>): number => {
  const last = known.at(-1)
  if (last === undefined) return 0
  const [before, now] = [known.map(({ text }) => spokenForm(text)), words.map(({ text }) => spokenForm(text))]
  let row = [0, ...now.map((_, j) => (j + 1) * FRONT_GAP)]
  for (const [i, word] of before.entries()) {
    const next = [(i + 1) * FRONT_GAP]
    for (const [j, other] of now.entries()) {
      const both = (row[j] ?? 0) + difference(word, other)
      next.push(Math.min(both, (row[j + 1] ?? 0) + GAP, (next[j] ?? 0) + GAP))
    }
    row = next
  }
  const costs = row.map((cost, j) => {
    const end = j === 0 ? (words[0]?.start ?? last.end) : (words[j - 1]?.end ?? last.end)
    return cost + Math.min(MAX_TIME_COST, TIME_COST * Math.abs(end - last.end))
  })
  return costs.indexOf(Math.min(...costs))
}

const startingAt = (words: ReadonlyArray<Word>, time: number): ReadonlyArray<Word> => {
  const [first, last] = [words[0], words.at(-1)]
  if (first === undefined || last === undefined || first.start >= time) return words
  const scale = last.end > first.start ? Math.max(0, last.end - time) / (last.end - first.start) : 0
  const moved = (at: number): number => time + (at - first.start) * scale
  return words.map((word) => ({ ...word, start: moved(word.start), end: moved(word.end) }))
}

/**
 * The words of a pass with the times of the words that they repeat, so that the time rule of LocalAgreement drops
 * exactly those; the new ones begin behind them.
 */
export const withKnownTimes = (known: ReadonlyArray<Word>, words: ReadonlyArray<Word>): ReadonlyArray<Word> => {
  const last = known.at(-1)
  if (last === undefined) return words
  const count = repeatedPrefix(known, words)
  const latestStart = last.end - 2 * TIME_TOLERANCE
  const repeated = words.slice(0, count).map((word, i) => {
    const before = known[Math.max(0, known.length - count) + i] ?? last
    return { text: word.text, start: Math.min(before.start, latestStart), end: before.end }
  })
  return [...repeated, ...startingAt(words.slice(count), last.end)]
}
