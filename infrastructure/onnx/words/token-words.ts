import { UNSPACED } from '../../../domain/transcript/unspaced.ts'

/** A byte-pair decoder returns this for an incomplete character. */
const INCOMPLETE = '\uFFFD'
const ONLY_PUNCTUATION = /^[\p{P}\p{S}]+$/u

/** A word with its tokens and the punctuation after it. `spoken` counts the tokens without that punctuation. */
export interface TokenWord {
  readonly tokens: ReadonlyArray<number>
  readonly text: string
  readonly spoken: number
}

/** Splits tokens into words. A word begins with a space, or is one character of a script without spaces. */
export const wordsOfTokens = (
  tokens: ReadonlyArray<number>,
  decodeText: (tokens: ReadonlyArray<number>) => string,
): ReadonlyArray<TokenWord> => {
  const words: Array<TokenWord> = []
  let open: ReadonlyArray<number> = []
  for (const [i, token] of tokens.entries()) {
    open = [...open, token]
    const text = decodeText(open)
    if (text.endsWith(INCOMPLETE) && i < tokens.length - 1) continue
    const last = words.at(-1)
    const isPunctuation = ONLY_PUNCTUATION.test(text)
    const beginsWord = text.startsWith(' ') || (UNSPACED.test(text) && !isPunctuation)
    if (last === undefined || beginsWord) words.push({ tokens: open, text, spoken: open.length })
    else {
      const all = [...last.tokens, ...open]
      words[words.length - 1] = {
        tokens: all,
        text: last.text + text,
        spoken: isPunctuation ? last.spoken : all.length,
      }
    }
    open = []
  }
  return words
}
