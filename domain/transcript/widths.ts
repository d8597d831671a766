import { codePointsOf } from '../shared/code-points.ts'

/**
 * A character that takes two columns: wide and full-width ones of Unicode's East Asian Width (UAX 11). JavaScript does
 * not know this property, so scripts and blocks stand for it.
 */
const WIDE = new RegExp(
  String.raw`[[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Bopomofo}\p{sc=Yi}\p{Emoji_Presentation}`
    + String.raw`\u3000-\u303E\u3099-\u30FF\u3190-\u33FF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]`
    + String.raw`--[\u1160-\u11FF\uD7B0-\uD7FF\uFF61-\uFFDC]]`,
  'gv',
)

/** Returns the columns of a text: two for each wide character, one for every other code point. */
export const columnsOf = (text: string): number => codePointsOf(text) + (text.match(WIDE)?.length ?? 0)
