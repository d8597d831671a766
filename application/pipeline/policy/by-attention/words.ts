import { withoutPunctuation } from '../../../../domain/transcript/captions.ts'
import { UNSPACED } from '../../../../domain/transcript/unspaced.ts'
import { SAMPLE_RATE, type TranscribedWord } from '../../../ports/engine.ts'
import type { Region } from '../../speech/speech-segmenter.ts'
import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import type { Word } from '../words.ts'

/** A word of a model with its tokens. Times are in seconds from the first audio. */
export interface SpokenWord extends Word {
  readonly tokens: ReadonlyArray<number>
  /** Number of tokens without the punctuation after the word. */
  readonly spoken: number
  readonly probability: number
  readonly confidence: number
  readonly endProbability: number
}

/** A word that overlaps a speech region by less than this is not spoken in this region. */
const MIN_OVERLAP_SECONDS = 0.12

/** Moves the times of a word into the speech that it overlaps, because words are not spoken in silence. */
const inSpeech = <W extends Word>(word: W, regions: ReadonlyArray<Region>): W => {
  const parts = regions
    .map(({ start, end }) => ({
      start: Math.max(word.start, start / SAMPLE_RATE),
      end: Math.min(word.end, (end ?? Infinity) / SAMPLE_RATE),
    }))
    .filter(({ start, end }) => end > start)
  const sounding = parts.filter(({ start, end }) => end - start >= MIN_OVERLAP_SECONDS)
  const [first, last] = sounding.length > 0 ? [sounding[0], sounding.at(-1)] : [parts[0], parts.at(-1)]
  return first === undefined || last === undefined ? word : { ...word, start: first.start, end: last.end }
}

/** Returns whether a text is only punctuation, or the rest of a word that was fixed too early. */
const continuesWord = (text: string): boolean =>
  !text.startsWith(' ') && (!UNSPACED.test(text) || /^[\p{P}\p{S}]+$/u.test(text))

/** Returns the words of a pass, with times from the first audio of the session. */
export const wordsOf = (
  words: ReadonlyArray<TranscribedWord>,
  pass: Pass,
  regions: ReadonlyArray<Region>,
  { punctuation }: Limits,
): ReadonlyArray<SpokenWord> => {
  const offset = pass.from / SAMPLE_RATE
  return words.map(({ text, start, end, ...word }) => {
    const times = { start: start + offset, end: end + offset }
    return inSpeech({ ...word, text: punctuation ? text : withoutPunctuation(text), ...times }, regions)
  })
}

/** Up to this many words may have wrong times. */
const MAX_MISPLACED_WORDS = 2
/** A shorter word counts as a word without duration. */
const MIN_WORD_SECONDS = 0.01

/**
 * Removes words that repeat the context of the model instead of new speech. The times of such words come from earlier
 * audio or from no audio. So many words end before `from` (the end of the known words), or many words in a row have no
 * duration.
 */
export const newWordsAfter = (words: ReadonlyArray<SpokenWord>, from: number): ReadonlyArray<SpokenWord> => {
  const repeated = words.findLastIndex(({ end }) => end <= from + MIN_WORD_SECONDS) + 1
  const rest = repeated > MAX_MISPLACED_WORDS ? words.slice(repeated) : words
  const hasDuration = ({ start, end }: SpokenWord): boolean => end - start >= MIN_WORD_SECONDS
  return rest.filter((word, i) => {
    const before = rest.findLastIndex((other, j) => j < i && hasDuration(other))
    const after = rest.findIndex((other, j) => j > i && hasDuration(other))
    return hasDuration(word) || (after === -1 ? rest.length : after) - before - 1 <= MAX_MISPLACED_WORDS
  })
}

/** Returns the geometric mean of the token confidences of both words. */
const confidenceOfBoth = (a: SpokenWord, b: SpokenWord): number =>
  (a.confidence ** a.spoken * b.confidence ** b.spoken) ** (1 / (a.spoken + b.spoken))

/** Appends words. The first word may continue the last known word. A final word can only get punctuation. */
export const appendWords = (
  known: ReadonlyArray<SpokenWord>,
  words: ReadonlyArray<SpokenWord>,
  finals: number,
): ReadonlyArray<SpokenWord> => {
  const [last, first] = [known.at(-1), words[0]]
  if (last === undefined || first === undefined || !continuesWord(first.text)) return [...known, ...words]
  const isPunctuation = !/[\p{L}\p{N}]/u.test(first.text)
  if (known.length === finals && !isPunctuation) return [...known, ...words]
  const whole = {
    ...last,
    tokens: [...last.tokens, ...first.tokens],
    spoken: isPunctuation ? last.spoken : last.tokens.length + first.spoken,
    text: last.text + first.text,
    end: isPunctuation ? last.end : Math.max(last.end, first.end),
    probability: isPunctuation ? last.probability : Math.min(last.probability, first.probability),
    confidence: isPunctuation ? last.confidence : confidenceOfBoth(last, first),
    endProbability: isPunctuation ? first.probability : first.endProbability,
  }
  return [...known.slice(0, -1), whole, ...words.slice(1)]
}

/** Returns a word without its final punctuation, which depends on the next word. */
export const withoutEnd = (word: SpokenWord): SpokenWord => ({
  ...word,
  tokens: word.tokens.slice(0, word.spoken),
  text: word.text.replace(/(?<=[\p{L}\p{M}\p{N}])[\p{P}\p{S}]+$/u, ''),
})

/** Returns whether a word ends a sentence. The audio may be cut after it. */
export const endsSentence = ({ text }: Word): boolean => /[.?!。？！…]["'”»)]*$/u.test(text)
/** Returns whether a word ends a part of a sentence. The audio may be cut after it. */
export const endsClause = ({ text }: Word): boolean => /[,;:、，；]["'”»)]*$/u.test(text)
