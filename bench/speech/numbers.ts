/** A word in the form that error rates compare, with its place and spelling in the text. */
export interface Token {
  /** Lower case, without punctuation. English numbers are digits. In languages without spaces it is one character. */
  readonly word: string
  /** First position of the word in the text, and the position after its end. */
  readonly from: number
  readonly to: number
  /** The word begins with a capital letter. */
  readonly capital: boolean
  /** The word ends a sentence and is not the last word of the text. */
  readonly ends: boolean
}

const UP_TO_NINETEEN =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen ' +
  'seventeen eighteen nineteen'
const ORDINALS =
  'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth ' +
  'fifteenth sixteenth seventeenth eighteenth nineteenth'
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'

interface NumberWord {
  readonly value: number
  readonly ordinal: boolean
}

/** A number at the beginning of a list of words. */
interface Reading extends NumberWord {
  /** How many words the number has. */
  readonly length: number
}

type Named = readonly [name: string, number: NumberWord]

const valued = (names: string, valueOf: (index: number) => number, ordinal: boolean): ReadonlyArray<Named> =>
  names.split(' ').map((name, i) => [name, { value: valueOf(i), ordinal }])

const NUMBERS: ReadonlyMap<string, NumberWord> = new Map([
  ...valued(UP_TO_NINETEEN, (i) => i, false),
  ...valued(ORDINALS, (i) => i, true),
  ...valued(TENS, (i) => 20 + 10 * i, false),
  ...valued(TENS.replaceAll(/y\b/g, 'ieth'), (i) => 20 + 10 * i, true),
])

const MULTIPLES: ReadonlyMap<string, number> = new Map([['thousand', 1000], ['million', 1_000_000]])

const writtenOf = ({ value, ordinal }: NumberWord): string => {
  const isTeen = Math.floor(value / 10) % 10 === 1
  const suffix = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][value % 10] ?? 'th')
  return `${value}${ordinal ? suffix : ''}`
}

const belowHundred = (words: ReadonlyArray<string>): Reading | null => {
  const [first, second] = [NUMBERS.get(words[0] ?? ''), NUMBERS.get(words[1] ?? '')]
  if (first === undefined) return null
  const isPair = first.value >= 20 && !first.ordinal && second !== undefined && second.value > 0 && second.value < 10
  return isPair ? { value: first.value + second.value, ordinal: second.ordinal, length: 2 } : { ...first, length: 1 }
}

const sumOf = (value: number, length: number, rest: Reading | null): Reading => ({
  value: value + (rest?.value ?? 0),
  ordinal: rest?.ordinal ?? false,
  length: length + (rest?.length ?? 0),
})

/** Reads numbers below 1000, and years that are spoken in pairs, such as fourteen fifty-five. */
const belowThousand = (words: ReadonlyArray<string>): Reading | null => {
  const first = belowHundred(words)
  if (first === null || first.ordinal) return first
  const { value, length } = first
  if (words[length] === 'hundred') return sumOf(100 * value, length + 1, belowHundred(words.slice(length + 1)))
  const second = belowHundred(words.slice(length))
  return second !== null && value >= 10 && second.value >= 10 ? sumOf(100 * value, length, second) : first
}

const numberIn = (words: ReadonlyArray<string>): Reading | null => {
  const first = belowThousand(words)
  if (first === null || first.ordinal) return first
  const multiple = MULTIPLES.get(words[first.length] ?? '')
  const length = first.length + 1
  return multiple === undefined ? first : sumOf(first.value * multiple, length, numberIn(words.slice(length)))
}

/** Converts English number words to digits, as Whisper writes them: `forty-two` to `42`, `fifteenth` to `15th`. */
export const writtenAsDigits = (tokens: ReadonlyArray<Token>, text: string): ReadonlyArray<Token> => {
  const written: Array<Token> = []
  for (let at = 0; at < tokens.length; ) {
    const apart = tokens.findIndex(({ to }, i) => i >= at && /[^\s-]/.test(text.slice(to, tokens[i + 1]?.from)))
    const together = tokens.slice(at, apart === -1 ? undefined : apart + 1)
    const number = numberIn(together.map(({ word }) => word))
    const [first, last] = [together[0], together[(number?.length ?? 1) - 1]]
    if (first === undefined || last === undefined) break
    written.push(number === null ? first : { ...first, word: writtenOf(number), to: last.to, ends: last.ends })
    at += number?.length ?? 1
  }
  return written
}
