import type { Tokenizer } from '@huggingface/tokenizers'
import { UNSPACED } from '../../../domain/transcript/unspaced.ts'
import type { Vocabulary } from '../../../application/ports/engine.ts'
import { createHotwords } from './hotwords.ts'
import type { Hotwords, Spelling } from './hotwords.ts'

/** A vocabulary as the decoder takes it. */
export interface DecoderVocabulary {
  readonly prompt: ReadonlyArray<number>
  /** Absent where there are none. */
  readonly hotwords?: Hotwords
}

/** What a client can make each pass cost is bounded: tokens of the prompt, hotwords, tokens of one. */
const MOST_PROMPT = 112
const MOST_HOTWORDS = 500
const LONGEST_HOTWORD = 24
/** Characters that are looked at for each token that counts. */
const CHARACTERS = 20
/** Vocabularies of other lives that are kept ready. */
const KEPT = 64

const NOTHING: DecoderVocabulary = { prompt: [] }

const capital = (text: string): string => text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())

/** Vocabularies in the tokens of one model, each made once. */
export const createVocabularies = (
  tokenizer: Pick<Tokenizer, 'encode'>,
  decodeText: (tokens: ReadonlyArray<number>) => string,
  endOfText: number,
): ((vocabulary: Vocabulary | undefined) => DecoderVocabulary) => {
  const ready = new Map<string, DecoderVocabulary>()
  const borders = new Map<number, boolean>()

  /** What looks like a special token of the model is no text. */
  const tokensOf = (text: string): ReadonlyArray<number> =>
    tokenizer.encode(text, { add_special_tokens: false }).ids.filter((token: number) => token < endOfText)

  const endsWord = (token: number): boolean => {
    const known = borders.get(token) ?? !/[\p{L}\p{M}\p{N}\uFFFD]$/u.test(decodeText([token]))
    borders.set(token, known)
    return known
  }

  const spellingsOf = (hotword: string): ReadonlyArray<Spelling> => {
    const text = hotword.trim().replaceAll(/\s+/gu, ' ').slice(0, LONGEST_HOTWORD * CHARACTERS)
    const isUnspaced = UNSPACED.test(text)
    return [...new Set([text, capital(text)])].flatMap((written) => [
      { tokens: tokensOf(` ${written}`).slice(0, LONGEST_HOTWORD), isFree: true },
      { tokens: tokensOf(written).slice(0, LONGEST_HOTWORD), isFree: isUnspaced },
    ])
  }

  const make = ({ prompt, hotwords }: Vocabulary): DecoderVocabulary => {
    const text = prompt.trim().slice(-MOST_PROMPT * CHARACTERS)
    const before = text === '' ? [] : tokensOf(` ${text}`).slice(-MOST_PROMPT)
    const wanted = hotwords.filter((hotword) => hotword.trim() !== '').slice(0, MOST_HOTWORDS)
    if (wanted.length === 0) return { prompt: before }
    return { prompt: before, hotwords: createHotwords(wanted.flatMap(spellingsOf), endOfText, endsWord) }
  }

  return (vocabulary) => {
    if (vocabulary === undefined) return NOTHING
    const key = JSON.stringify(vocabulary)
    const made = ready.get(key) ?? make(vocabulary)
    ready.delete(key)
    ready.set(key, made)
    const [oldest] = ready.keys()
    if (ready.size > KEPT && oldest !== undefined) ready.delete(oldest)
    return made
  }
}
