/**
 * Judges subtitles by figures and rules of broadcasters. It shares no code with the product.
 *
 * - Netflix, Timed Text Style Guide, General Requirements: at most 2 lines, and one where the text fits; a line breaks
 *   after punctuation; at most 7 s; 2 frames between cues (partnerhelp.netflixstudios.com, article 215758617).
 * - Netflix, English Template Timed Text Style Guide: 42 characters in a line, 17 characters a second; wide characters
 *   count twice here (backlothelp.netflix.com, article 219375728).
 * - BBC, Subtitle Guidelines: a subtitle and a line break at natural points, ideally at punctuation (sections "Break at
 *   natural points" and "Subtitles should contain single sentences"); no word is broken
 *   (bbc.co.uk/accessibility/forproducts/guides/subtitles).
 * - W3C, Requirements for Japanese Text Layout (JLReq), 3.1.7 and 3.1.8: marks that begin and end no line.
 */

const [MAX_LINES, MAX_COLUMNS, COLUMNS_PER_SECOND] = [2, 42, 17]
const [MIN_MS, MAX_MS, GAP_MS] = [1000, 7000, 80]
/** A cue ends at a sentence or a clause that ends in this last part of it. */
const LAST_PART = 0.4

/** Wide and full-width blocks of East Asian Width (UAX 11). */
const WIDE: ReadonlyArray<readonly [number, number]> = [
  [0x1100, 0x115f], [0x2e80, 0x303e], [0x3041, 0xa4cf], [0xac00, 0xd7a3], [0xf900, 0xfaff], [0xfe30, 0xfe6f],
  [0xff00, 0xff60], [0xffe0, 0xffe6], [0x1f300, 0x1f64f], [0x1f900, 0x1f9ff], [0x20000, 0x3fffd],
]
export const columns = (text: string): number =>
  Array.from(text, (character) => character.codePointAt(0) ?? 0)
    .reduce((sum, code) => sum + (WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1), 0)

const NOT_FIRST = /^[)\]}」』）】〉》、。，．！？：；…,.!?;:%]/u
const NOT_LAST = /[([{「『（【〈《„¿¡«]$/u
const ENDS_CLAUSE = /[.,;:!?…、。，！？；：—–][」』）)"”»]*$/u
/** Languages that put no spaces between words. */
const UNSPACED = new Set(['ja', 'zh', 'th'])

interface Cue {
  readonly from: number
  readonly to: number
  readonly lines: ReadonlyArray<string>
}

const millisecondsOf = (stamp: string): number => {
  const [hours = NaN, minutes = NaN, seconds = NaN, ms = NaN] = stamp.split(/[:,]/).map(Number)
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
}

export const cuesOf = (subRip: string): ReadonlyArray<Cue> =>
  subRip.trim().split('\n\n').map((block) => {
    const [, times = '', ...lines] = block.split('\n')
    const [from = NaN, to = NaN] = times.split(' --> ').map(millisecondsOf)
    return { from, to, lines }
  })

/** Words with the French marks that stay beside them. */
const wordsOf = (text: string): ReadonlyArray<string> => text.split(/(?<!«) (?![»!?:;])/u)

/** Returns whether a word could move to the other line to make both about equally long. */
const isUneven = (first: string, second: string): boolean => {
  const [last = '', next = ''] = [wordsOf(first).at(-1), wordsOf(second)[0]]
  const longest = (change: number): number => Math.max(columns(first) + change, columns(second) - change)
  return Math.min(longest(-columns(last) - 1), longest(columns(next) + 1)) < longest(0)
}

const flawsOfLines = ({ lines }: Cue, language: string): ReadonlyArray<string> => {
  const isSpaced = !UNSPACED.has(language)
  const [first = '', second] = lines
  const breaksAnywhere = isSpaced && second !== undefined && !ENDS_CLAUSE.test(first)
  return [
    ...(lines.length > MAX_LINES ? ['too many lines'] : []),
    ...(lines.length > 1 && columns(lines.join(isSpaced ? ' ' : '')) <= MAX_COLUMNS ? ['the text fits one line'] : []),
    ...(lines.some((line) => columns(line) > MAX_COLUMNS) ? ['a line is too long'] : []),
    ...(lines.some((line) => NOT_FIRST.test(line)) ? ['a closing mark begins a line'] : []),
    ...(lines.some((line) => NOT_LAST.test(line)) ? ['an opening mark ends a line'] : []),
    ...(breaksAnywhere && isUneven(first, second) ? ['the lines could be more even'] : []),
  ]
}

/** Free time after a cue makes it longer. */
const flawsOfTimes = ({ from, to, lines }: Cue, next: Cue | undefined): ReadonlyArray<string> => {
  const free = (next?.from ?? Infinity) - GAP_MS - to
  const tooFast = (columns(lines.join(' ')) * 1000) / (to - from) > COLUMNS_PER_SECOND
  return [
    ...(to <= from ? ['no duration'] : []),
    ...(to - from > MAX_MS ? ['too long to stay'] : []),
    ...(to - from < MIN_MS && free > 0 ? ['too short although there is time'] : []),
    ...(tooFast && free > 0 ? ['too fast although there is time'] : []),
    ...(free < 0 ? ['too near to the next cue'] : []),
  ]
}

/** The last letters of a sentence or a clause, without abbreviations and ordinal numbers. */
const CLAUSE_ENDS = /(?<!(?:^| )(?:Dr|\p{Lu}|\p{N}{1,2}))[.,;:!?…、。，！？；：][」』）)"”»]*(?=\s|$|[^\p{N}\p{P}\s])/gu

/** Flaws of a cue that another cue of the same segment follows. */
const flawsOfEnd = ({ lines }: Cue, language: string): ReadonlyArray<string> => {
  const text = lines.join(UNSPACED.has(language) ? '' : ' ')
  if (ENDS_CLAUSE.test(text)) return []
  const ends = Array.from(text.matchAll(CLAUSE_ENDS), ({ index, 0: mark }) => columns(text.slice(0, index) + mark))
  return ends.some((end) => end > (1 - LAST_PART) * columns(text)) ? ['a clause ends earlier in the last part'] : []
}

/** Returns the places in a text at which a word ends. */
const boundaries = (text: string, language: string): ReadonlySet<number> =>
  new Set(Array.from(new Intl.Segmenter(language, { granularity: 'word' }).segment(text), ({ index }) => index))

/** Judges the subtitles of segments of one language. Returns each flaw with the lines of its cue. */
export const flawsOf = (
  subRip: string, segments: ReadonlyArray<{ readonly text: string }>, language: string,
): ReadonlyArray<string> => {
  const cues = cuesOf(subRip)
  const flaws: Array<string> = []
  let [segment, at] = [0, 0]
  for (const [index, cue] of cues.entries()) {
    const own: Array<string> = [...flawsOfLines(cue, language), ...flawsOfTimes(cue, cues[index + 1])]
    const text = segments[segment]?.text ?? ''
    const ends = boundaries(text, language)
    const isFirst = at === 0
    for (const line of cue.lines) {
      const found = text.indexOf(line, at)
      if (found === -1) own.push('the text is not that of the segment')
      if (found > 0 && !ends.has(found)) own.push('a word is broken')
      at = found + line.length
    }
    const isLast = at === text.length
    if (!isLast) own.push(...flawsOfEnd(cue, language))
    if (!(isFirst && isLast) && !UNSPACED.has(language) && !cue.lines.join(' ').includes(' ')) own.push('a single word')
    if (isLast) [segment, at] = [segment + 1, 0]
    flaws.push(...own.map((flaw) => `${flaw}: ${cue.lines.join(' | ')}`))
  }
  return segment === segments.length ? flaws : [...flaws, 'text is missing']
}
