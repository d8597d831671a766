import { hasCodePoints } from './code-points.ts'

/** Characters without a shape of their own that Unicode counts as letters, marks or symbols. */
export const SHAPELESS = String.raw`\u2800\u2d7f\ufffc\u{1107f}\u{13441}\u{13442}\u{16fe4}\u{1d159}\u{1da9b}-\u{1daaf}`

/** Characters that nobody sees, or that have no agreed shape: control, format, private and unassigned characters. */
const HIDDEN = new RegExp(String.raw`[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}${SHAPELESS}]`, 'v')

/** The sign of each Indic script that joins two consonants. */
const VIRAMAS = {
  Devanagari: '\u094d', Bengali: '\u09cd', Gurmukhi: '\u0a4d', Gujarati: '\u0acd', Oriya: '\u0b4d', Tamil: '\u0bcd',
  Telugu: '\u0c4d', Kannada: '\u0ccd', Malayalam: '\u0d4d', Sinhala: '\u0dca',
}

/** Dots that change an Indic letter. They stand between the letter and the joining sign. */
const NUKTAS = String.raw`[\u093c\u09bc\u0a3c\u0abc\u0b3c\u0c3c\u0cbc]`

const joinersOf = ([script, virama]: readonly [string, string]): string => {
  const letter = String.raw`[\p{L}&&\p{Script=${script}}]`
  return String.raw`(?<=${letter}${NUKTAS}?${virama})[\u200c\u200d](?=${letter})`
}

/** Joiners, selectors and tags at places where they change what is seen. */
const SHAPING = new RegExp(
  [
    String.raw`\p{RGI_Emoji}`,
    // between letters of the Arabic script
    String.raw`(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic})`,
    ...Object.entries(VIRAMAS).map(joinersOf),
  ].join('|'),
  'gv',
)

/** U+3000 is the space of Chinese and Japanese. Other spaces look like U+0020. */
const OTHER_SPACES = /[ \u3000]{2}|(?![ \u3000])\p{Zs}/u

const MISPLACED_MARKS = /^\p{M}|\p{M}{9}/u

/**
 * Returns the problem with the name of a user, profile or token, or null. The text continues a sentence that begins
 * with the name of the field, and never repeats the value. A valid name has 1 to 100 code points, and shows everything
 * that it contains: otherwise two names could look the same.
 */
export const nameProblem = (name: string): string | null => {
  if (name === '') return 'should have at least 1 character'
  if (!hasCodePoints(name, 1, 100)) return 'should have at most 100 characters'
  if (HIDDEN.test(name.replace(SHAPING, ''))) return 'should not contain control or invisible characters'
  if (name.trim() !== name) return 'should not begin or end with a space'
  if (OTHER_SPACES.test(name)) return 'should have single spaces between its words'
  return MISPLACED_MARKS.test(name) ? 'should not begin with a mark, or have more than 8 marks in a row' : null
}
