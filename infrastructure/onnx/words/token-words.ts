import { UNSPACED } from '../../../domain/transcript/unspaced.ts'

/** A decoder of byte pairs gives this for bytes that are no whole character yet. */
const INCOMPLETE = '\uFFFD'
const ONLY_PUNCTUATION = /^[\p{P}\p{S}]+$/u

/** A word with the punctuation behind it: how many of its tokens there are, and how many without that punctuation. */
export interface TokenWord {
  readonly tokens: ReadonlyArray<number>
  readonly text: string
  readonly spoken: number
}

/** The words of a text by its tokens. A word begins with a space, or is a character of a script without spaces. */
export const wordsOfTokens = (tokens: ReadonlyArray<number>, decodeText: (tokens: ReadonlyArray<number>) => string): ReadonlyArray<TokenWord> => {
  const words: Array<TokenWord> = []
  let open: ReadonlyArray<number> = []
  for (const [i, token] of tokens.entries()) {
    open = [...open, token]
    const text = decodeText(open)
    if (text.endsWith(INCOMPLETE) && i < tokens.length - 1) continue
    const last = words.at(-1)
    const isPunctuation = ONLY_PUNCTUATION.test(text)
    if (last === undefined || text.startsWith(' ') || (UNSPACED.test(text) && !isPunctuation)) words.push({ tokens: open, text, spoken: open.length })
    else {
      const all = [...last.tokens, ...open]
      words[words.length - 1] = { tokens: all, text: last.text + text, spoken: isPunctuation ? last.spoken : all.length }
    }
    open = []
  }
  return words
}
