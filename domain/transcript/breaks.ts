import { ABBREVIATED } from './sentences.ts'
import { UNSPACED } from './unspaced.ts'
import { columnsOf } from './widths.ts'

/** A part of a text, from `from` (inclusive) to `to` (exclusive), in UTF-16 units. */
export interface Span {
  readonly from: number
  readonly to: number
}

const CLOSING = String.raw`\p{Pe}\p{Pf}.,!?;:…‥、。，．：；！？・｡､･％%‰°℃`
/** Characters that continue a word or a sentence: small kana, marks of length and of repetition. */
const CONTINUING = 'ー々〻ゝゞヽヾ゛゜ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶｰﾞﾟๆฯໆຯៗ'
const OPENING = String.raw`\p{Ps}\p{Pi}¿¡`

const BEGINS_CLOSED = new RegExp(`^[${CLOSING}${CONTINUING}]`, 'u')
/** Before a number, or alone after it. */
const UNIT = String.raw`\p{Sc}#＃№`
const ENDS_OPEN = new RegExp(`[${OPENING}${UNIT}]$`, 'u')
const ONLY_CLOSING = new RegExp(`^[${CLOSING}${UNIT}]+$`, 'u')
const ONLY_OPENING = new RegExp(`^[${OPENING}]+$`, 'u')

const words = new Intl.Segmenter('und', { granularity: 'word' })
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/**
 * Joins neighbours that must stay on one line, from the left: `belong` looks at the end of one and at the beginning of
 * the next. What is wider than a line is not joined.
 */
const joined = (
  text: string, spans: ReadonlyArray<Span>, maxColumns: number, belong: (left: string, right: string) => boolean,
): ReadonlyArray<Span> => {
  const result: Array<Span> = []
  let last = ''
  for (const span of spans) {
    const [before, own] = [result.at(-1), text.slice(span.from, span.to)]
    if (before !== undefined && belong(last, own) && columnsOf(text.slice(before.from, span.to)) <= maxColumns)
      result[result.length - 1] = { from: before.from, to: span.to }
    else result.push(span)
    last = own
  }
  return result
}

const placed = (parts: Iterable<string>, from: number): ReadonlyArray<Span> => {
  let at = from
  return Array.from(parts, (part) => ({ from: at, to: (at += part.length) }))
}

/** Splits text without spaces at its words, if its script has none. */
const wordsOf = (text: string, span: Span, maxColumns: number): ReadonlyArray<Span> => {
  const run = text.slice(span.from, span.to)
  if (!UNSPACED.test(run)) return [span]
  const parts = placed(Array.from(words.segment(run), ({ segment }) => segment), span.from)
  return joined(text, parts, maxColumns, (left, right) => ENDS_OPEN.test(left) || BEGINS_CLOSED.test(right))
}

/** Splits a word that is wider than a line: between graphemes, and a grapheme that is wider between code points. */
const brokenWord = (text: string, word: Span, maxColumns: number): ReadonlyArray<Span> => {
  const own = text.slice(word.from, word.to)
  if (columnsOf(own) <= maxColumns) return [word]
  const parts = Array.from(graphemes.segment(own), ({ segment }) => segment)
    .flatMap((part) => (columnsOf(part) > maxColumns ? [...part] : [part]))
  return joined(text, placed(parts, word.from), maxColumns, () => true)
}

/** Spaces at which a line may break. The others hold their neighbours together. */
const UNBROKEN = /[\S\u00A0\u202F]+/gu

/**
 * Returns the parts of a text that stay on one line: words with their marks. Only a word that is wider than a line is
 * split. Closing marks stay with what is before them, opening ones with what is after them, also across a space, as in
 * French.
 */
export const unbrokenParts = (text: string, maxColumns: number): ReadonlyArray<Span> => {
  const parts = Array.from(text.matchAll(UNBROKEN), ({ index, 0: run }) => ({ from: index, to: index + run.length }))
    .flatMap((span) => wordsOf(text, span, maxColumns))
  return joined(text, parts, maxColumns, (left, right) => ONLY_OPENING.test(left) || ONLY_CLOSING.test(right))
    .flatMap((part) => brokenWord(text, part, maxColumns))
}

const QUOTES = String.raw`["'\p{Pe}\p{Pf}]*\s*$`
const SENTENCE_END = new RegExp(`[.?!…。？！｡؟۔।॥။។]${QUOTES}`, 'u')
const CLAUSE_END = new RegExp(`[,;:،؛、，；：､…—–.]${QUOTES}`, 'u')
/** A number of a list, or a day in some languages. */
const ORDINAL = /(?:^|[^\p{N}.,])\p{N}{1,2}\.\s*$/u
const CONTINUES = /^\s*["'\p{Ps}\p{Pi}]*\p{Ll}/u
const OPENS = /^\s*[(（[—–]/u

/** How good a text ends: 2 at a sentence, 1 at a clause, 0 elsewhere. `after`: the text that follows. */
export const endOf = (text: string, after: string): 0 | 1 | 2 => {
  const isShort = ABBREVIATED.test(text) || ORDINAL.test(text)
  if (SENTENCE_END.test(text) && !isShort && !CONTINUES.test(after)) return 2
  if ((CLAUSE_END.test(text) && !isShort) || OPENS.test(after)) return 1
  // Scripts without spaces between words have spaces between phrases.
  return UNSPACED.test(text.trimEnd().slice(-1)) && /^\s/u.test(after) ? 1 : 0
}
