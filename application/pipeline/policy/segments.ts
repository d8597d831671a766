import { newestCaption, splitIntoCaptions } from '../../../domain/transcript/captions.ts'
import type { Caption, CaptionShape } from '../../../domain/transcript/captions.ts'
import type { Segment, SegmentWord } from '../pipeline.ts'
import type { Word } from './words.ts'
import { textOf } from './words.ts'

interface Placed extends Word {
  /** Where the word lies in the running text. */
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

/** The instant of a place in a word, in proportion to its characters. */
const instantIn = ({ from, to, start, end }: Placed, at: number): number =>
  start + (end - start) * Math.min(1, Math.max(0, (at - from) / Math.max(1, to - from)))

/** The instant of a place in the text. */
const timeAt = (words: ReadonlyArray<Placed>, at: number, side: 'start' | 'end'): number => {
  const word = words.find(({ to }) => (side === 'start' ? to > at : to >= at)) ?? words.at(-1)
  return word === undefined ? 0 : instantIn(word, at)
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000

type Judged = Placed & { readonly confidence: number }
const isJudged = (word: Placed): word is Judged => word.confidence !== undefined

/** The words in a part of the running text, one after another and all of it; of a word that a caption breaks, what it holds. */
const wordsIn = (words: ReadonlyArray<Judged>, text: string, { from, to }: Caption, span: Pick<Segment, 'start' | 'end'>): ReadonlyArray<SegmentWord> => {
  let [at, earliest] = [from, span.start]
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

/** `words` as final segments from number `first` on, each of which fits a caption; none begins before `notBefore`. */
export const finalSegments = (words: ReadonlyArray<Word>, shape: CaptionShape, first: number, notBefore: number): ReadonlyArray<Segment> => {
  const placed = place(words)
  const all = textOf(words)
  let earliest = notBefore
  return splitIntoCaptions(all, shape).map((part, i) => {
    const start = Math.max(earliest, rounded(timeAt(placed, part.from, 'start')))
    const end = Math.max(start, rounded(timeAt(placed, part.to, 'end')))
    earliest = end
    const told = placed.every(isJudged) ? { words: wordsIn(placed, all, part, { start, end }) } : {}
    return { segment: first + i, start, end, text: part.text, caption: part.caption, ...told }
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
