import type { Beginning, TranscribedWord, Hypothesis } from '../../../../application/ports/engine.ts'
import { FIRST_VALUE, runsOf, SAMPLE_RATE, samplesOf, type Run, type ScriptedWord } from './script.ts'

/**
 * The kinds of tokens. Every word of a script has one token of each kind. `word`: the whole word. `half`: the beginning
 * of a word that the end of the audio cuts off. `rest`: the part after `half`. `misheard`: the wrong text of a draft.
 * `torn`: a word that is incomplete elsewhere in the audio.
 */
const KINDS = ['word', 'punctuation', 'half', 'rest', 'misheard', 'torn'] as const
type Kind = (typeof KINDS)[number]

const tokenOf = (index: number, kind: Kind): number => index * KINDS.length + KINDS.indexOf(kind)
/** The index of the token's word in the script. */
const indexOf = (token: number): number => Math.floor(token / KINDS.length)
const kindOf = (token: number): Kind => KINDS[token % KINDS.length] ?? 'word'

const PUNCTUATION = /[\p{P}]+$/u
/** A shorter incomplete sound is not transcribed. */
const MIN_AUDIBLE_SAMPLES = samplesOf(0.1)
const [HIGH_PROBABILITY, LOW_PROBABILITY] = [0.9, 0.1]

/** A run of a word's sound in the audio. */
interface Sound extends Run {
  readonly index: number
  readonly word: ScriptedWord
  /** The audio ends with this sound. */
  readonly isAtEnd: boolean
}

type WordWith = (text: string, ...kinds: ReadonlyArray<Kind>) => TranscribedWord

const wordWithOf = ({ index, from, to }: Sound, isMisheard: boolean): WordWith => {
  const [start, end] = [from / SAMPLE_RATE, to / SAMPLE_RATE]
  const probability = isMisheard ? LOW_PROBABILITY : HIGH_PROBABILITY
  const scores = { probability, confidence: probability, endProbability: 1 }
  return (text, ...kinds) => {
    const tokens = kinds.map((kind) => tokenOf(index, kind))
    return { tokens, text, spoken: 1, start, end, ...scores }
  }
}

const isWhole = ({ word, from, to }: Sound): boolean => to - from === samplesOf(word.seconds)

const punctuationOf = ({ text }: ScriptedWord): string | null => PUNCTUATION.exec(text)?.[0] ?? null

/** The part of a word that follows its tokens in the prefix. `prefixKinds`: the kinds of these tokens. */
const continuationOf = (
  sound: Sound,
  prefixKinds: ReadonlyArray<Kind>,
  wordWith: WordWith,
): ReadonlyArray<TranscribedWord> => {
  const { word, to } = sound
  const punctuation = punctuationOf(word)
  if (prefixKinds.includes('half'))
    return isWhole(sound) && !prefixKinds.includes('rest') ? [wordWith(`~${word.text}`, 'rest')] : []
  if (punctuation === null || prefixKinds.includes('punctuation')) return []
  return [{ ...wordWith(punctuation, 'punctuation'), start: to / SAMPLE_RATE }]
}

/** The part of a word that the audio does not contain completely. */
const partOf = ({ word, from, to, isAtEnd }: Sound, wordWith: WordWith): ReadonlyArray<TranscribedWord> => {
  if (to - from < MIN_AUDIBLE_SAMPLES) return []
  if (!isAtEnd) return [wordWith(` ~${word.text}`, 'torn')]
  const letters = Math.floor((word.text.length * (to - from)) / SAMPLE_RATE / word.seconds)
  return [wordWith(` ${word.text.slice(0, letters)}~`, 'half')]
}

/** Transcribes one sound. `prefixKinds`: the kinds of its tokens in the prefix. */
const wordsOf = (
  sound: Sound,
  prefixKinds: ReadonlyArray<Kind>,
  isDraft: boolean,
): ReadonlyArray<TranscribedWord> => {
  const { word } = sound
  const isMisheard = isDraft && word.misheard !== undefined
  const wordWith = wordWithOf(sound, isMisheard)
  if (prefixKinds.length > 0) return continuationOf(sound, prefixKinds, wordWith)
  if (!isWhole(sound)) return partOf(sound, wordWith)
  if (isMisheard) return [wordWith(` ${word.misheard}`, 'misheard')]
  const kinds: ReadonlyArray<Kind> = punctuationOf(word) === null ? ['word'] : ['word', 'punctuation']
  return [wordWith(` ${word.text}`, ...kinds)]
}

/**
 * Transcribes scripted audio as a model with word times does. The hypothesis continues after the prefix. A word that
 * the audio cuts off is returned partly: `wo~` at the end of the audio, `~word` elsewhere.
 *
 * @throws when the prefix or the context does not match the audio, which would mislead a real model
 */
export const hypothesisAfter = (
  words: ReadonlyArray<ScriptedWord>,
  samples: Int16Array,
  { prefix, context, isDraft }: Beginning & { readonly isDraft: boolean },
): Hypothesis => {
  const sounds = runsOf(samples).flatMap((run): ReadonlyArray<Sound> => {
    const index = run.value - FIRST_VALUE
    const word = words[index]
    return word === undefined ? [] : [{ ...run, index, word, isAtEnd: run.to === samples.length }]
  })
  const sounding = sounds.map(({ index }) => index)
  const kinds = Map.groupBy(prefix, indexOf)
  const inPrefix = [...kinds.keys()]
  const [first = Infinity, last = -1] = [inPrefix[0], inPrefix.at(-1)]
  const begins = inPrefix[0] ?? sounds.find(({ from }) => from > 0)?.index ?? Infinity

  const isSkipped = (index: number): boolean => index > first && index < last && !inPrefix.includes(index)
  // Lost audio leaves incomplete words, which a prefix may skip. So only a whole word proves a gap.
  const hasGap = sounds.some(({ index, word, from, to }) => isSkipped(index) && to - from >= samplesOf(word.seconds))
  if (hasGap) throw new Error(`the prefix ${inPrefix.join(' ')} has gaps: ${sounding.join(' ')}`)
  if (inPrefix.some((index) => !sounding.includes(index)))
    throw new Error(`the prefix ${inPrefix.join(' ')} does not sound in ${sounding.join(' ')}`)
  const contextEnd = indexOf(context.at(-1) ?? -1)
  if (contextEnd >= begins) throw new Error(`the context ends with ${contextEnd}, the audio begins with ${begins}`)

  const transcribed = sounds
    .filter(({ index }) => index >= last)
    .flatMap((sound) => wordsOf(sound, (kinds.get(sound.index) ?? []).map(kindOf), isDraft))
  const text = transcribed.map((word) => word.text).join('')
  const span = { start: transcribed[0]?.start ?? 0, end: transcribed.at(-1)?.end ?? 0 }
  return {
    segments: text === '' ? [] : [{ ...span, text }],
    words: transcribed, isLoop: false, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2,
  }
}
