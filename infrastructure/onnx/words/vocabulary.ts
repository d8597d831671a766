import type { Tokenizer } from '@huggingface/tokenizers'
import { UNSPACED } from '../../../domain/transcript/unspaced.ts'
import type { Vocabulary } from '../../../application/ports/engine.ts'
import { createLruCache } from '../../../application/lru-cache.ts'
import { createHotwords, type Hotwords, type Spelling } from './hotwords.ts'

/** A vocabulary in the form for the decoder. */
export interface DecoderVocabulary {
  readonly prompt: ReadonlyArray<number>
  /** Absent without hotwords. */
  readonly hotwords?: Hotwords
}

/** These limits bound the cost of a client's vocabulary in each pass. */
const MAX_PROMPT_TOKENS = 112
const MAX_HOTWORDS = 500
const MAX_HOTWORD_TOKENS = 24
/** Longer texts are cut to this number of characters per allowed token before encoding. */
const CHARACTERS_PER_TOKEN = 20
/** Number of encoded vocabularies in the cache. */
const MAX_CACHED = 64

const NOTHING: DecoderVocabulary = { prompt: [] }

const capital = (text: string): string => text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())

/** Returns a function that encodes vocabularies with the tokenizer of one model, and caches them. */
export const createVocabularies = (
  tokenizer: Pick<Tokenizer, 'encode'>,
  decodeText: (tokens: ReadonlyArray<number>) => string,
  endOfText: number,
): ((vocabulary: Vocabulary | undefined) => DecoderVocabulary) => {
  const ready = createLruCache<string, DecoderVocabulary>(MAX_CACHED)
  const borders = new Map<number, boolean>()

  /** Encodes a text, without the model's special tokens. */
  const tokensOf = (text: string): ReadonlyArray<number> =>
    tokenizer.encode(text, { add_special_tokens: false }).ids.filter((token: number) => token < endOfText)

  const endsWord = (token: number): boolean => {
    const known = borders.get(token) ?? !/[\p{L}\p{M}\p{N}\uFFFD]$/u.test(decodeText([token]))
    borders.set(token, known)
    return known
  }

  const spellingsOf = (hotword: string): ReadonlyArray<Spelling> => {
    const text = hotword.trim().replaceAll(/\s+/gu, ' ').slice(0, MAX_HOTWORD_TOKENS * CHARACTERS_PER_TOKEN)
    const isUnspaced = UNSPACED.test(text)
    return [...new Set([text, capital(text)])].flatMap((written) => [
      { tokens: tokensOf(` ${written}`).slice(0, MAX_HOTWORD_TOKENS), isFree: true },
      { tokens: tokensOf(written).slice(0, MAX_HOTWORD_TOKENS), isFree: isUnspaced },
    ])
  }

  const encode = ({ prompt, hotwords }: Vocabulary): DecoderVocabulary => {
    const text = prompt.trim().slice(-MAX_PROMPT_TOKENS * CHARACTERS_PER_TOKEN)
    const before = text === '' ? [] : tokensOf(` ${text}`).slice(-MAX_PROMPT_TOKENS)
    const wanted = hotwords.filter((hotword) => hotword.trim() !== '').slice(0, MAX_HOTWORDS)
    if (wanted.length === 0) return { prompt: before }
    return { prompt: before, hotwords: createHotwords(wanted.flatMap(spellingsOf), endOfText, endsWord) }
  }

  return (vocabulary) => {
    if (vocabulary === undefined) return NOTHING
    const key = JSON.stringify(vocabulary)
    const encoded = ready.get(key) ?? encode(vocabulary)
    ready.set(key, encoded)
    return encoded
  }
}
