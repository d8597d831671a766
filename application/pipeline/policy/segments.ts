import {
  type Caption, type CaptionShape, newestCaption, splitIntoCaptions,
} from '../../../domain/transcript/captions.ts'
import type { SegmentWord } from '../../../domain/transcript/events.ts'
import type { Segment } from '../pipeline.ts'
import { textOf, type Word } from './words.ts'

/** A word with its position in the joined text, from `from` (inclusive) to `to` (exclusive), in UTF-16 units. */
interface Placed extends Word {
  readonly from: number
  readonly to: number
}

const place = (words: ReadonlyArray<Word>): ReadonlyArray<Placed> => {
  const all = words.map(({ text }) => text).join('')
  let at = all.trimStart().length - all.length
  return words.map((word) => {
    const from = at + word.text.length - word.text.trimStart().length
    at += word.text.length
    return { ...word, from, to: from + word.text.trim().length }
  })
}

/** Returns the time of a position in a word, in proportion to its characters. */
const instantIn = ({ from, to, start, end }: Placed, at: number): number =>
  start + (end - start) * Math.min(1, Math.max(0, (at - from) / Math.max(1, to - from)))

/** Returns the time of a position in the text. */
const timeAt = (words: ReadonlyArray<Placed>, at: number, side: 'start' | 'end'): number => {
  const word = words.find(({ to }) => (side === 'start' ? to > at : to >= at)) ?? words.at(-1)
  return word === undefined ? 0 : instantIn(word, at)
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000

type WithConfidence = Placed & { readonly confidence: number }
const hasConfidence = (word: Placed): word is WithConfidence => word.confidence !== undefined

/** Returns the words in a part of the joined text. A word that a caption breaks is split. */
const wordsIn = (
  words: ReadonlyArray<WithConfidence>,
  text: string,
  { from, to }: Caption,
  span: Pick<Segment, 'start' | 'end'>,
): ReadonlyArray<SegmentWord> => {
  let at = from
  let earliest = span.start
  const within = (seconds: number, least: number): number => Math.min(span.end, Math.max(least, rounded(seconds)))
  return words.flatMap((word) => {
    const upTo = Math.min(word.to, to)
    if (upTo <= at) return []
    const start = within(instantIn(word, at), earliest)
    const end = within(instantIn(word, upTo), start)
    const part = { start, end, text: text.slice(at, upTo), confidence: rounded(word.confidence) }
    at = upTo
    earliest = end
    return [part]
  })
}

/**
 * Splits words into final segments that each fit into one caption. The numbers of the segments begin with `first`. No
 * segment begins before `notBefore` (seconds).
 */
export const finalSegments = (
  words: ReadonlyArray<Word>,
  shape: CaptionShape,
  first: number,
  notBefore: number,
): ReadonlyArray<Segment> => {
  const placed = place(words)
  const all = textOf(words)
  let earliest = notBefore
  return splitIntoCaptions(all, shape).map((part, i) => {
    const start = Math.max(earliest, rounded(timeAt(placed, part.from, 'start')))
    const end = Math.max(start, rounded(timeAt(placed, part.to, 'end')))
    earliest = end
    const timed = placed.every(hasConfidence) ? { words: wordsIn(placed, all, part, { start, end }) } : {}
    return { segment: first + i, start, end, text: part.text, caption: part.caption, ...timed }
  })
}

/** Returns the open segment as a draft. Its caption contains only the newest lines. */
export const partialSegment = (
  words: ReadonlyArray<Word>,
  shape: CaptionShape,
  segment: number,
  notBefore: number,
): Segment => {
  const text = textOf(words)
  const start = Math.max(notBefore, rounded(words[0]?.start ?? 0))
  const end = Math.max(start, rounded(words.at(-1)?.end ?? 0))
  return { segment, start, end, text, caption: newestCaption(text, shape) }
}

/** Counts the words at the start that fill complete captions, that is, all words before the last caption. */
export const wordsInFullCaptions = (words: ReadonlyArray<Word>, shape: CaptionShape): number => {
  const lastCaption = splitIntoCaptions(textOf(words), shape, true).at(-1)
  if (lastCaption === undefined || lastCaption.from === 0) return 0
  const count = place(words).findIndex(({ from }) => from >= lastCaption.from)
  return count === -1 ? words.length : count
}
