import { withoutPunctuation } from '../../../../domain/transcript/captions.ts'
import { UNSPACED } from '../../../../domain/transcript/unspaced.ts'
import type { TranscribedWord } from '../../../ports/engine.ts'
import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Region } from '../../speech/speech-segmenter.ts'
import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import type { Word } from '../words.ts'

/** A word that the model said, with what it was said in; times in seconds from the first audio. */
export interface SpokenWord extends Word {
  readonly tokens: ReadonlyArray<number>
  /** How many of the tokens there are without the punctuation behind it. */
  readonly spoken: number
  readonly probability: number
  readonly confidence: number
  /** Of the punctuation behind it. */
  readonly endProbability: number
}

/** Speech shorter than this, in seconds, that a word reaches into is not where it sounds. */
const TOUCHED = 0.12

/** A word does not sound in silence: its times are moved to the speech that it lies in. */
const inSpeech = <W extends Word>(word: W, regions: ReadonlyArray<Region>): W => {
  const parts = regions
    .map(({ start, end }) => ({ start: Math.max(word.start, start / SAMPLE_RATE), end: Math.min(word.end, (end ?? Infinity) / SAMPLE_RATE) }))
    .filter(({ start, end }) => end > start)
  const sounding = parts.filter(({ start, end }) => end - start >= TOUCHED)
  const [first, last] = sounding.length > 0 ? [sounding[0], sounding.at(-1)] : [parts[0], parts.at(-1)]
  return first === undefined || last === undefined ? word : { ...word, start: first.start, end: last.end }
}

/** Punctuation alone, or the rest of a word whose beginning was taken for all of it. */
const goesOn = (text: string): boolean => !text.startsWith(' ') && (!UNSPACED.test(text) || /^[\p{P}\p{S}]+$/u.test(text))

/** The words of a pass, in the time of the live. */
export const wordsOf = (
  heard: ReadonlyArray<TranscribedWord>,
  pass: Pass,
  regions: ReadonlyArray<Region>,
  { punctuation }: Limits,
): ReadonlyArray<SpokenWord> => {
  const offset = pass.from / SAMPLE_RATE
  return heard.map(({ text, start, end, ...word }) =>
    inSpeech({ ...word, text: punctuation ? text : withoutPunctuation(text), start: start + offset, end: end + offset }, regions),
  )
}

/** So few words may be misplaced in time. */
const MOST_MISPLACED = 2
/** Seconds of a word that sounds in no time. */
const NO_TIME = 0.01

/**
 * The words without those that the model says again of what it was told before. Its attention goes back to where they were
 * spoken, or has nowhere to go: many words end before `from`, where the known ones end, or many in a row sound in no time.
 */
export const spokenBehind = (words: ReadonlyArray<SpokenWord>, from: number): ReadonlyArray<SpokenWord> => {
  const told = words.findLastIndex(({ end }) => end <= from + NO_TIME) + 1
  const rest = told > MOST_MISPLACED ? words.slice(told) : words
  const isSounding = ({ start, end }: SpokenWord): boolean => end - start >= NO_TIME
  return rest.filter((word, i) => {
    const before = rest.findLastIndex((other, j) => j < i && isSounding(other))
    const behind = rest.findIndex((other, j) => j > i && isSounding(other))
    return isSounding(word) || (behind === -1 ? rest.length : behind) - before - 1 <= MOST_MISPLACED
  })
}

/** The geometric mean of their tokens' probabilities. */
const confidenceOfBoth = (a: SpokenWord, b: SpokenWord): number =>
  (a.confidence ** a.spoken * b.confidence ** b.spoken) ** (1 / (a.spoken + b.spoken))

/** `words` behind `known`, whose last one the first of them may go on with; of a final word only the punctuation. */
export const joined = (known: ReadonlyArray<SpokenWord>, words: ReadonlyArray<SpokenWord>, finals: number): ReadonlyArray<SpokenWord> => {
  const [last, first] = [known.at(-1), words[0]]
  if (last === undefined || first === undefined || !goesOn(first.text)) return [...known, ...words]
  const isPunctuation = !/[\p{L}\p{N}]/u.test(first.text)
  if (known.length === finals && !isPunctuation) return [...known, ...words]
  const all = {
    ...last,
    tokens: [...last.tokens, ...first.tokens],
    spoken: isPunctuation ? last.spoken : last.tokens.length + first.spoken,
    text: last.text + first.text,
    end: isPunctuation ? last.end : Math.max(last.end, first.end),
    probability: isPunctuation ? last.probability : Math.min(last.probability, first.probability),
    confidence: isPunctuation ? last.confidence : confidenceOfBoth(last, first),
    endProbability: isPunctuation ? first.probability : first.endProbability,
  }
  return [...known.slice(0, -1), all, ...words.slice(1)]
}

/** The word without the punctuation behind it, which depends on what follows. */
export const withoutEnd = (word: SpokenWord): SpokenWord => ({
  ...word,
  tokens: word.tokens.slice(0, word.spoken),
  text: word.text.replace(/(?<=[\p{L}\p{M}\p{N}])[\p{P}\p{S}]+$/u, ''),
})

/** Ends a sentence, or a part of one: the audio may be cut behind it. */
export const endsSentence = ({ text }: Word): boolean => /[.?!。？！…]["'”»)]*$/u.test(text)
export const endsClause = ({ text }: Word): boolean => /[,;:、，；]["'”»)]*$/u.test(text)
