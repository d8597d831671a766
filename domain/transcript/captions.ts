import { endOf, type Span, unbrokenParts } from './breaks.ts'
import { columnsOf } from './widths.ts'

/** Maximum size of a caption. `maxChars`: columns in a line (see `columnsOf`). `maxLines`: lines in a caption. */
export interface CaptionShape {
  readonly maxChars: number
  readonly maxLines: number
}

/** The part of a longer text that one caption shows. */
export interface Caption extends Span {
  /** Without line breaks. */
  readonly text: string
  /** With line breaks. */
  readonly caption: string
}

/** An unbroken part of a text, its place in columns, and how good a line or a caption would end with it (`endOf`). */
interface Part extends Span {
  readonly left: number
  readonly right: number
  readonly end: 0 | 1 | 2
}

/** Characters before and after a break that show whether it ends a sentence. */
const LONGEST_END = 40

const partsOf = (text: string, maxChars: number): ReadonlyArray<Part> => {
  let [at, column] = [0, 0]
  const columnAt = (index: number): number => {
    column += columnsOf(text.slice(at, index))
    at = index
    return column
  }
  return unbrokenParts(text, maxChars).map(({ from, to }) => {
    const end = endOf(text.slice(Math.max(0, to - LONGEST_END), to), text.slice(to, to + LONGEST_END))
    return { from, to, left: columnAt(from), right: columnAt(to), end }
  })
}

const widthOf = (parts: ReadonlyArray<Part>): number => (parts.at(-1)?.right ?? 0) - (parts[0]?.left ?? 0)

const spanOf = (parts: ReadonlyArray<Part>): Span => ({ from: parts[0]?.from ?? 0, to: parts.at(-1)?.to ?? 0 })

/** Returns lines that are as full as possible: no other lines are fewer. */
const fullLines = (parts: ReadonlyArray<Part>, maxChars: number): ReadonlyArray<ReadonlyArray<Part>> => {
  const lines: Array<Array<Part>> = []
  for (const part of parts) {
    const line = lines.at(-1)
    if (line?.[0] !== undefined && part.right - line[0].left <= maxChars) line.push(part)
    else lines.push([part])
  }
  return lines
}

/** More than all other costs together: there are never more lines than necessary. */
const COST_OF_LINE = 1e9
/** A line that ends with a sentence or a clause may leave more room than an even line, by this share of its length. */
const ROOM_AT_END = [0, 0.4, 0.5] as const

/** Breaks a text into as few lines as possible. They are about equally long, and end at clauses if they can. */
const evenLines = (parts: ReadonlyArray<Part>, maxChars: number): ReadonlyArray<Span> => {
  /** For each number of parts: the least cost of their lines, and the number of parts before their last line. */
  const best: Array<{ readonly cost: number; readonly before: number }> = [{ cost: 0, before: 0 }]
  for (const [index, last] of parts.entries()) {
    const bonus = index === parts.length - 1 ? 0 : (ROOM_AT_END[last.end] * maxChars) ** 2
    let found = { cost: Infinity, before: index }
    for (let first = index; first >= 0; first -= 1) {
      const room = maxChars - (last.right - (parts[first]?.left ?? 0))
      if (room < 0 && first < index) break
      const cost = (best[first]?.cost ?? 0) + COST_OF_LINE + room ** 2 - bonus
      // Of equal costs, the one with the longer last line.
      if (cost <= found.cost) found = { cost, before: first }
    }
    best.push(found)
  }
  const lines: Array<Span> = []
  for (let end = parts.length; end > 0; end = best[end]?.before ?? 0)
    lines.unshift(spanOf(parts.slice(best[end]?.before, end)))
  return lines
}

const render = (text: string, lines: ReadonlyArray<Span>): string =>
  lines.map(({ from, to }) => text.slice(from, to).replaceAll(/\s+/gu, ' ')).join('\n')

/** Returns the last lines of `text` that fit into one caption. Its lines stay as they are while the text grows. */
export const newestCaption = (text: string, { maxChars, maxLines }: CaptionShape): string =>
  render(text, fullLines(partsOf(text, maxChars), maxChars).slice(-maxLines).map(spanOf))

/** Returns all of `text`, broken into lines of at most `maxChars`. */
export const wrapped = (text: string, maxChars: number): string =>
  render(text, evenLines(partsOf(text, maxChars), maxChars))

/** A caption ends at a sentence or a clause that ends in this last part of it. */
const LAST_PART = 0.4

/**
 * Returns how many of `parts` the first caption gets. `most`: how many fit. `aim`: the length that it should have, in
 * columns. It ends at a sentence or else at a clause, near the aim, or else at the word nearest to the aim.
 */
const partsOfFirst = (parts: ReadonlyArray<Part>, most: number, aim: number): number => {
  const left = parts[0]?.left ?? 0
  const distanceOf = (part: Part): number => Math.abs(part.right - left - aim)
  const candidates = parts.slice(0, most).filter(({ right }) => right - left >= (1 - LAST_PART) * aim)
  const goodness = Math.max(0, ...candidates.map(({ end }) => end))
  const [nearest] = candidates.filter(({ end }) => end === goodness)
    .toSorted((a, b) => distanceOf(a) - distanceOf(b) || b.right - a.right)
  return nearest === undefined ? most : parts.indexOf(nearest) + 1
}

/**
 * Splits all of `text` into captions. They end at sentences and clauses, and else are as full as possible; the last two
 * are about equally long. `isOpen`: more words follow, so the last two are not made equal.
 */
export const splitIntoCaptions = (
  text: string, { maxChars, maxLines }: CaptionShape, isOpen = false,
): ReadonlyArray<Caption> => {
  const captions: Array<Caption> = []
  const fits = (parts: ReadonlyArray<Part>): number => fullLines(parts, maxChars).slice(0, maxLines).flat().length
  let rest = partsOf(text, maxChars)
  while (rest.length > 0) {
    let count = fits(rest)
    if (count < rest.length) {
      // No word is left alone, neither here nor there.
      const most = count === rest.length - 1 && count > 2 ? count - 1 : count
      const isLast = !isOpen && fits(rest.slice(count)) === rest.length - count
      count = partsOfFirst(rest, most, isLast ? widthOf(rest) / 2 : widthOf(rest.slice(0, most)))
    }
    const parts = rest.slice(0, count)
    const { from, to } = spanOf(parts)
    captions.push({ from, to, text: text.slice(from, to), caption: render(text, evenLines(parts, maxChars)) })
    rest = rest.slice(count)
  }
  return captions
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
