import { writtenAsDigits, type Token } from './numbers.ts'

/** Languages without spaces, which Whisper's evaluation counts by the character. Korean has spaces. */
const WITHOUT_SPACES: ReadonlySet<string> = new Set(['ja', 'zh', 'yue', 'th', 'lo', 'my'])

/** Returns the unit of the error rate of a language. */
export const unitOf = (language: string): 'characters' | 'words' =>
  (WITHOUT_SPACES.has(language) ? 'characters' : 'words')

const WORDS = /[\p{L}\p{N}\p{M}]+(?:'[\p{L}\p{N}\p{M}]+)*/gu
const CHARACTERS = /[\p{L}\p{N}]\p{M}*/gu
const SENTENCE_END = /[.!?…]["'”’»)\]]*\s|[。！？]/u
/** The full stop of these abbreviations does not end a sentence. */
const ABBREVIATIONS: ReadonlySet<string> = new Set(['mr', 'mrs', 'ms', 'dr', 'st'])

/** Returns whether a word ends a sentence. */
export const endsSentence = (written: string): boolean =>
  SENTENCE_END.test(`${written} `) && !ABBREVIATIONS.has(written.toLowerCase().replaceAll(/[^\p{L}]/gu, ''))

/** Returns the words of a text without punctuation, except for apostrophes inside words. */
export const tokensOf = (text: string, language: string): ReadonlyArray<Token> => {
  const uniform = text.replaceAll('’', "'")
  const found = [...uniform.matchAll(unitOf(language) === 'characters' ? CHARACTERS : WORDS)]
  const tokens = found.map(({ 0: written, index: from }, i): Token => {
    const to = from + written.length
    const next = found[i + 1]?.index
    const word = written.normalize('NFC').toLowerCase()
    const ends = next !== undefined && SENTENCE_END.test(uniform.slice(to, next)) && !ABBREVIATIONS.has(word)
    return { word, from, to, capital: /^\p{Lu}/u.test(written), ends }
  })
  return language === 'en' ? writtenAsDigits(tokens, uniform) : tokens
}
