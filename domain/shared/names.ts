import { hasCodePoints } from './code-points.ts'

/** Characters that nobody sees: control and format characters, lone surrogates, and characters without a shape. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Joiners and selectors at places where they change what is seen. */
const SHAPING = new RegExp(
  [
    // in an emoji of several parts
    String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\p{Extended_Pictographic})\ufe0f`,
    // between letters of the Arabic script
    String.raw`(?<=\p{Script=Arabic})\u200c(?=\p{Script=Arabic})`,
    // after the sign of Indic scripts that joins two consonants
    String.raw`(?<=[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca])[\u200c\u200d](?=\p{L})`,
  ].join('|'),
  'gu',
)

/**
 * Returns the problem with the name of a user, profile or token, or null. The text continues a sentence that begins
 * with the name of the field, and never repeats the value. A valid name has 1 to 100 code points, and shows everything
 * that it contains: otherwise two names could look the same.
 */
export const nameProblem = (name: string): string | null => {
  if (name === '') return 'should have at least 1 character'
  if (!hasCodePoints(name, 1, 100)) return 'should have at most 100 characters'
  if (HIDDEN.test(name.replace(SHAPING, ''))) return 'should not contain control or invisible characters'
  return name.trim() === name ? null : 'should not begin or end with a space'
}
