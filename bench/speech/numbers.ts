import type { Token } from './words.ts'

const UP_TO_NINETEEN =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
const ORDINALS =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth ' +
  'seventeenth eighteenth nineteenth'
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'

interface NumberWord {
  readonly value: number
  readonly ordinal: boolean
}

const valued = (names: string, valueOf: (index: number) => number, ordinal: boolean): ReadonlyArray<[string, NumberWord]> =>
  names.split(' ').map((name, i) => [name, { value: valueOf(i), ordinal }])

const NUMBERS: ReadonlyMap<string, NumberWord> = new Map([
  ...valued(UP_TO_NINETEEN, (i) => i, false),
  ...valued(ORDINALS, (i) => i, true),
  ...valued(TENS, (i) => 20 + 10 * i, false),
  ...valued(TENS.replaceAll(/y\b/g, 'ieth'), (i) => 20 + 10 * i, true),
])

const MULTIPLES: ReadonlyMap<string, number> = new Map([['hundred', 100], ['thousand', 1000], ['million', 1_000_000]])

const suffixOf = (value: number): string => {
  const isTeen = Math.floor(value / 10) % 10 === 1
  return isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
}

/** A number that begins with the first of `words`, and of how many of them it consists; null where none begins. */
const numberIn = (words: ReadonlyArray<string>): { readonly written: string; readonly length: number } | null => {
  let [total, group, length, ordinal] = [0, 0, 0, false]
  for (let previous: number | null = null; length < words.length && !ordinal; length += 1) {
    const word = words[length] ?? ''
    const multiple = MULTIPLES.get(word)
    const number = NUMBERS.get(word)
    if (multiple !== undefined && previous !== null) {
      group *= multiple
      if (multiple > 100) [total, group] = [total + group, 0]
      previous = multiple
    } else if (number !== undefined) {
      const { value } = number
      const isUnit = value > 0 && value < 10
      // Years are said in pairs: fourteen fifty-five.
      const isYear = total === 0 && group >= 10 && group < 100 && value >= 10 && (previous === group || group % 10 !== 0)
      if (previous === null || (previous >= 20 && (isUnit || previous >= 100))) group += value
      else if (isYear) group = group * 100 + value
      else break
      previous = value
      ordinal = number.ordinal
    } else break
  }
  if (length === 0) return null
  return { written: `${total + group}${ordinal ? suffixOf(total + group) : ''}`, length }
}

/** English numbers in words as the digits that Whisper writes: `forty-two` is `42`, `fifteenth` is `15th`. */
export const writtenAsDigits = (tokens: ReadonlyArray<Token>, text: string): ReadonlyArray<Token> => {
  const written: Array<Token> = []
  for (let at = 0; at < tokens.length; ) {
    const apart = tokens.findIndex(({ to }, i) => i >= at && /[^\s-]/.test(text.slice(to, tokens[i + 1]?.from)))
    const together = tokens.slice(at, apart === -1 ? undefined : apart + 1)
    const number = numberIn(together.map(({ word }) => word))
    const [first, last] = [together[0], together[(number?.length ?? 1) - 1]]
    if (first === undefined || last === undefined) break
    written.push(number === null ? first : { ...first, word: number.written, to: last.to, ends: last.ends })
    at += number?.length ?? 1
  }
  return written
}
