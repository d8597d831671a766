import { spokenForm } from '../words.ts'
import type { SpokenWord } from './words.ts'

const MARGIN = Number(process.env['MARGIN'] ?? 0)
const ABSENT = Math.log(Number(process.env['ABSENT'] ?? 0.5))

type Words = ReadonlyArray<SpokenWord>

/** Pairs of places at which both say the same word: a longest common subsequence. */
const commonWords = (a: Words, b: Words): ReadonlyArray<readonly [number, number]> => {
  const [x, y] = [a, b].map((words) => words.map(({ text }) => spokenForm(text))) as [Array<string>, Array<string>]
  const longest = Array.from({ length: x.length + 1 }, () => new Array<number>(y.length + 1).fill(0))
  const at = (i: number, j: number): number => longest[i]?.[j] ?? 0
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      const row = longest[i]
      if (row !== undefined) row[j] = x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: Array<readonly [number, number]> = []
  for (let [i, j] = [0, 0]; i < x.length && j < y.length; ) {
    if (x[i] === y[j]) pairs.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1
    else j += 1
  }
  return pairs
}

const scoreOf = (words: Words): number => {
  const tokens = words.reduce((sum, { spoken }) => sum + spoken, 0)
  return tokens === 0 ? ABSENT : words.reduce((sum, { spoken, confidence }) => sum + spoken * Math.log(confidence), 0) / tokens
}

/** Two accounts of the same audio: where they differ, the words that their own account was surer of; else those of `later`. */
export const surerOf = (earlier: Words, later: Words): Words => {
  const pairs = [...commonWords(earlier, later), [earlier.length, later.length] as const]
  const words: Array<SpokenWord> = []
  let [i, j] = [0, 0]
  for (const [k, l] of pairs) {
    const [was, is] = [earlier.slice(i, k), later.slice(j, l)]
    const keep = scoreOf(was) > scoreOf(is) + MARGIN
    if (process.env['TRACE'] && was.length + is.length > 0) console.error(`  ROVER ${was.map((w) => w.text)} ${Math.exp(scoreOf(was)).toFixed(2)} / ${is.map((w) => w.text)} ${Math.exp(scoreOf(is)).toFixed(2)} -> ${keep ? 'draft' : 'full'}`)
    words.push(...(keep ? was : is))
    const same = later[l]
    if (same !== undefined) words.push(same)
    ;[i, j] = [k + 1, l + 1]
  }
  return words
}
