import { newestCaption, splitIntoCaptions } from '../../../domain/transcript/captions.ts'
import type { CaptionShape } from '../../../domain/transcript/captions.ts'
import type { Segment } from '../pipeline.ts'
import type { Word } from './words.ts'
import { textOf } from './words.ts'

interface Placed extends Word {
  /** Where the word lies in the running text. */
  readonly from: number
  readonly to: number
}

const place = (words: ReadonlyArray<Word>): ReadonlyArray<Placed> => {
  let at = 0
  return words.map((word, i) => {
    const from = at + (i === 0 ? 0 : word.text.length - word.text.trimStart().length)
    at = from + word.text.trim().length
    return { ...word, from, to: at }
  })
}

/** The instant of a place in the text, inside a word in proportion to its characters. */
const timeAt = (words: ReadonlyArray<Placed>, at: number, side: 'start' | 'end'): number => {
  const word = words.find(({ to }) => (side === 'start' ? to > at : to >= at)) ?? words.at(-1)
  if (word === undefined) return 0
  const share = (at - word.from) / Math.max(1, word.to - word.from)
  return word.start + (word.end - word.start) * Math.min(1, Math.max(0, share))
}

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000

/** `words` as final segments from number `first` on, each of which fits a caption; none begins before `notBefore`. */
export const finalSegments = (words: ReadonlyArray<Word>, shape: CaptionShape, first: number, notBefore: number): ReadonlyArray<Segment> => {
  const placed = place(words)
  let earliest = notBefore
  return splitIntoCaptions(textOf(words), shape).map(({ text, caption, from, to }, i) => {
    const start = Math.max(earliest, rounded(timeAt(placed, from, 'start')))
    const end = Math.max(start, rounded(timeAt(placed, to, 'end')))
    earliest = end
    return { segment: first + i, start, end, text, caption }
  })
}

/** The open segment as it stands: its newest lines. */
export const partialSegment = (words: ReadonlyArray<Word>, shape: CaptionShape, segment: number, notBefore: number): Segment => {
  const text = textOf(words)
  const start = Math.max(notBefore, rounded(words[0]?.start ?? 0))
  return { segment, start, end: Math.max(start, rounded(words.at(-1)?.end ?? 0)), text, caption: newestCaption(text, shape) }
}

/** How many words at the front of `words` fill captions that nothing more fits into. */
export const wordsInFullCaptions = (words: ReadonlyArray<Word>, shape: CaptionShape): number => {
  const open = splitIntoCaptions(textOf(words), shape).at(-1)
  if (open === undefined || open.from === 0) return 0
  const inOpen = place(words).findIndex(({ from }) => from >= open.from)
  return inOpen === -1 ? words.length : inOpen
}
