import { codePointsOf } from '../shared/code-points.ts'

/** Maximum size of a caption. `maxChars`: code points in a line. `maxLines`: lines in a caption. */
export interface CaptionShape {
  readonly maxChars: number
  readonly maxLines: number
}

/** A part of a text, from `from` (inclusive) to `to` (exclusive), in UTF-16 units. */
interface Span {
  readonly from: number
  readonly to: number
}

/** The part of a longer text that one caption shows. */
export interface Caption extends Span {
  /** Without line breaks. */
  readonly text: string
  /** With line breaks. */
  readonly caption: string
}


const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Splits a word into graphemes. A grapheme that is wider than a line is split into its code points. */
const unitsOf = (word: string, maxChars: number): ReadonlyArray<string> =>
  Array.from(graphemes.segment(word), ({ segment }) => segment)
    .flatMap((unit) => (codePointsOf(unit) > maxChars ? [...unit] : [unit]))

const breakWord = (text: string, word: Span, maxChars: number): ReadonlyArray<Span> => {
  const pieces: Array<Span> = []
  let [from, to, length] = [word.from, word.from, 0]
  for (const unit of unitsOf(text.slice(word.from, word.to), maxChars)) {
    if (length + codePointsOf(unit) > maxChars) {
      pieces.push({ from, to })
      from = to
      length = 0
    }
    to += unit.length
    length += codePointsOf(unit)
  }
  return [...pieces, { from, to }]
}

/** Breaks a text into lines of at most `maxChars`, at spaces. Only words longer than a line are broken. */
const wrap = (text: string, maxChars: number): ReadonlyArray<Span> => {
  const lines: Array<Span> = []
  for (const match of text.matchAll(/\S+/gu)) {
    const word = { from: match.index, to: match.index + match[0].length }
    const line = lines.at(-1)
    if (line !== undefined && codePointsOf(text.slice(line.from, word.to)) <= maxChars) {
      lines[lines.length - 1] = { from: line.from, to: word.to }
    } else {
      lines.push(...breakWord(text, word, maxChars))
    }
  }
  return lines
}

const render = (text: string, lines: ReadonlyArray<Span>): string =>
  lines.map(({ from, to }) => text.slice(from, to).replaceAll(/\s+/gu, ' ')).join('\n')

/** Returns the last lines of `text` that fit into one caption. */
export const newestCaption = (text: string, shape: CaptionShape): string =>
  render(text, wrap(text, shape.maxChars).slice(-shape.maxLines))

/** Returns all of `text`, broken into lines of at most `maxChars`. */
export const wrapped = (text: string, maxChars: number): string => render(text, wrap(text, maxChars))

/** Splits all of `text` into captions, each as full as possible. */
export const splitIntoCaptions = (text: string, shape: CaptionShape): ReadonlyArray<Caption> => {
  const lines = wrap(text, shape.maxChars)
  return Array.from({ length: Math.ceil(lines.length / shape.maxLines) }, (_, i) => {
    const linesOfCaption = lines.slice(i * shape.maxLines, (i + 1) * shape.maxLines)
    const from = linesOfCaption[0]?.from ?? 0
    const to = linesOfCaption.at(-1)?.to ?? from
    return { from, to, text: text.slice(from, to), caption: render(text, linesOfCaption) }
  })
}

const MARK = '[.,?!;:…¿¡\u037e،؛؟۔।॥。、，．？！；：｡､﹐﹒﹔﹕﹖﹗]'
const LETTER = String.raw`[\p{L}\p{M}\p{N}]`
/**
 * A letter of a script that puts spaces between words. Chinese and Japanese are excluded: they have no such spaces, so
 * a mark between two letters may end a sentence.
 */
const SPACED_LETTER = String.raw`[${LETTER}--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}]]`

/**
 * Marks that belong to a word: in numbers (3.5, 10:30, 1,000, .5), names and abbreviations (example.com, U.S, EU:s).
 */
const OWN_MARK = [
  String.raw`(?<=\p{N})${MARK}(?=\p{N})`,
  String.raw`(?<!${LETTER}|${MARK})\.(?=\p{N})`,
  String.raw`(?<=${SPACED_LETTER})[.:](?=${SPACED_LETTER})`,
].join('|')

const MARKS = new RegExp(`(?<own>${OWN_MARK})|(?<joint>(?<=${LETTER})${MARK}+(?=${LETTER}))|${MARK}+`, 'gv')

/**
 * Removes the marks `. , ? ! ; :` and their forms in other scripts. Marks inside a word stay. Marks that join two words
 * without a space become a space.
 */
export const withoutPunctuation = (text: string): string =>
  text
    .replaceAll(MARKS, (_, own?: string, joint?: string) => own ?? (joint === undefined ? '' : ' '))
    .replaceAll(/\s+/gu, ' ')
