import { alignWords } from '../../domain/transcript/word-alignment.ts'
import type { Frame } from './live.ts'
import { tokensOf } from './words.ts'
import type { Token } from './numbers.ts'

/** A word with its start and end, in seconds. */
export interface SpokenWord {
  readonly word: string
  readonly start: number
  readonly end: number
}

/**
 * Converts the timed words of a manifest to comparable words. A part that begins with a hyphen belongs to the word
 * before.
 */
export const spokenWords = (
  timed: ReadonlyArray<readonly [start: number, end: number, text: string]>,
  language: string,
): ReadonlyArray<SpokenWord> => {
  const withSpace = (text: string, i: number): string => (i === 0 || text.startsWith('-') ? text : ` ${text}`)
  const pieces = timed.map(([start, end, text], i) => ({ start, end, text: withSpace(text, i) }))
  const starts = pieces.map((_, i) => pieces.slice(0, i).reduce((sum, { text }) => sum + text.length, 0))
  const pieceAt = (at: number) => pieces[starts.findLastIndex((start) => start <= at)]
  return tokensOf(pieces.map(({ text }) => text).join(''), language).map(({ word, from, to }) => ({
    word,
    start: pieceAt(from)?.start ?? 0,
    end: pieceAt(to - 1)?.end ?? 0,
  }))
}

/**
 * The visible part of the open segment: its newest lines (`caption`, as the service sends it) or the whole segment
 * (`text`).
 */
export type View = 'caption' | 'text'

/** The words on a screen from the time `at`. */
export interface Screen {
  readonly at: number
  readonly words: ReadonlyArray<string>
}

/** Shorter screens do not count, because nobody sees them: for example, the next draft follows a final at once. */
const MIN_SCREEN_SECONDS = 0.05

/** Returns the screen after each frame. */
export const screensOf = (
  frames: ReadonlyArray<Frame>,
  language: string,
  view: View,
): ReadonlyArray<Screen> => {
  const settled: Array<string> = []
  const screens = frames.map(({ at, final, text, caption }) => {
    const open = final || view === 'text' ? text : caption.replaceAll('\n', ' ')
    const words = tokensOf([...settled, open].join(' '), language).map(({ word }) => word)
    if (final) settled.push(text)
    return { at, words }
  })
  return screens.filter(({ at }, i) => (screens[i + 1]?.at ?? Infinity) - at > MIN_SCREEN_SECONDS)
}

/** Returns the length of the longest common subsequence of two lists of words. */
const common = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  let row: ReadonlyArray<number> = b.map(() => 0)
  for (const word of a) {
    const above = row
    let left = 0
    row = b.map((other, i) => (left = word === other ? (above[i - 1] ?? 0) + 1 : Math.max(left, above[i] ?? 0)))
  }
  return row.at(-1) ?? 0
}

/** Counts the shown words, right or wrong, and the words that later vanished or changed. */
export const takenBack = (screens: ReadonlyArray<Pick<Screen, 'words'>>): { shown: number; taken: number } => {
  let [shown, taken] = [0, 0]
  let before: ReadonlyArray<string> = []
  for (const { words } of screens) {
    const last = before
    const differs = last.findIndex((word, i) => word !== words[i])
    const same = differs === -1 ? last.length : differs
    const kept = common(last.slice(same), words.slice(same))
    taken += last.length - same - kept
    shown += words.length - same - kept
    before = words
  }
  return { shown, taken }
}

/** Seconds from the end of each spoken word to its first display (`shown`) and to its last appearance (`settled`). */
export interface WordDelays {
  readonly shown: ReadonlyArray<number>
  readonly settled: ReadonlyArray<number>
}

/** Returns the delays of the words that appear. `settled` also leaves out words that are missing in the final text. */
export const wordDelays = (
  spoken: ReadonlyArray<SpokenWord>,
  screens: ReadonlyArray<Screen>,
): WordDelays => {
  const reference = spoken.map(({ word }) => word)
  const shown = new Map<number, number>()
  let heldSince = new Map<number, number>()
  for (const { at, words } of screens) {
    const held = alignWords(reference, words, 'prefix').matches.map(([index]) => index)
    heldSince = new Map(held.map((index) => [index, heldSince.get(index) ?? at]))
    for (const index of held) if (!shown.has(index)) shown.set(index, at)
  }
  const delays = (times: ReadonlyMap<number, number>): ReadonlyArray<number> =>
    [...times].toSorted(([a], [b]) => a - b).map(([index, at]) => at - (spoken[index]?.end ?? 0))
  return { shown: delays(shown), settled: delays(heldSince) }
}

/** Returns the tokens of consecutive texts, and the index of the last token of each text. */
export const joined = (
  texts: ReadonlyArray<string>,
  language: string,
): { readonly tokens: ReadonlyArray<Token>; readonly lastOf: ReadonlyArray<number> } => {
  const tokens = tokensOf(texts.join(' '), language)
  let end = -1
  const lastOf = texts.map((text) => {
    end += text.length + 1
    return tokens.findLastIndex(({ from }) => from < end)
  })
  return { tokens, lastOf }
}
