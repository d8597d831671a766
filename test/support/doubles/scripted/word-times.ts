import { SAMPLE_RATE } from '../../../../application/ports/engine.ts'
import type { Beginning, TranscribedWord, Hypothesis } from '../../../../application/ports/engine.ts'
import type { Run, ScriptedWord } from './engine.ts'

/** What a token says of the word of a script that it belongs to. */
const KINDS = ['word', 'punctuation', 'half', 'rest', 'misheard', 'torn'] as const
type Kind = (typeof KINDS)[number]

const tokenOf = (place: number, kind: Kind): number => place * KINDS.length + KINDS.indexOf(kind)
const placeOf = (token: number): number => Math.floor(token / KINDS.length)
const kindOf = (token: number): Kind => KINDS[token % KINDS.length] ?? 'word'

const ENDING = /[\p{P}]+$/u
/** Sound shorter than this is nothing to anybody. */
const AUDIBLE = 0.1 * SAMPLE_RATE
const SURE = 0.9
const UNSURE = 0.1

/** A run of a word's sound in the audio. */
interface Sound extends Run {
  readonly place: number
  readonly word: ScriptedWord
  /** The audio ends with it. */
  readonly isAtEnd: boolean
}

/** What is said of one sound, given what is known of it already; nothing where it is too short to be anything. */
const saidOf = ({ place, word, from, to, isAtEnd }: Sound, known: ReadonlyArray<Kind>, isDraft: boolean): ReadonlyArray<TranscribedWord> => {
  const [start, end] = [from / SAMPLE_RATE, to / SAMPLE_RATE]
  const say = (text: string, ...kinds: ReadonlyArray<Kind>): TranscribedWord => {
    const probability = word.misheard === undefined || !isDraft ? SURE : UNSURE
    return { tokens: kinds.map((kind) => tokenOf(place, kind)), text, spoken: 1, start, end, probability, confidence: probability, endProbability: 1 }
  }
  const ending = ENDING.exec(word.text)?.[0] ?? null
  const isWhole = to - from === Math.round(word.seconds * SAMPLE_RATE)
  if (known.includes('half')) return isWhole && !known.includes('rest') ? [say(`~${word.text}`, 'rest')] : []
  if (known.length > 0) return ending === null || known.includes('punctuation') ? [] : [{ ...say(ending, 'punctuation'), start: end }]
  if (!isWhole) {
    if (to - from < AUDIBLE) return []
    if (!isAtEnd) return [say(` ~${word.text}`, 'torn')]
    return [say(` ${word.text.slice(0, Math.floor((word.text.length * (end - start)) / word.seconds))}~`, 'half')]
  }
  if (isDraft && word.misheard !== undefined) return [say(` ${word.misheard}`, 'misheard')]
  return [ending === null ? say(` ${word.text}`, 'word') : say(` ${word.text}`, 'word', 'punctuation')]
}

/**
 * What a model with word times says of audio whose runs of equal samples are words of a script: it goes on from the prefix, tells
 * half of a word that is cut off, and draws false conclusions from a prefix or a context that is not what was spoken there.
 */
export const hypothesisAfter = (words: ReadonlyArray<ScriptedWord>, runs: ReadonlyArray<Run>, { prefix, context, isDraft }: Beginning & { readonly isDraft: boolean }, { first, length }: { readonly first: number; readonly length: number }): Hypothesis => {
  const sounds = runs.flatMap((run): ReadonlyArray<Sound> => {
    const word = words[run.value - first]
    return word === undefined ? [] : [{ ...run, place: run.value - first, word, isAtEnd: run.to === length }]
  })
  const places = sounds.map(({ place }) => place)
  const kinds = Map.groupBy(prefix, placeOf)
  const known = [...kinds.keys()]
  const begins = known[0] ?? sounds.find(({ from }) => from > 0)?.place ?? Infinity
  const isLeftOut = (sounding: number): boolean =>
    sounding > (known[0] ?? Infinity) && sounding < (known.at(-1) ?? -1) && !known.includes(sounding)
  // What was never sent leaves a gap in what sounds, too.
  if (sounds.some(({ place, word, from, to }) => isLeftOut(place) && to - from >= Math.round(word.seconds * SAMPLE_RATE))) throw new Error(`the prefix ${known.join(' ')} has gaps: ${places.join(' ')}`)
  if (known.some((place) => !places.includes(place))) throw new Error(`the prefix ${known.join(' ')} does not sound in ${places.join(' ')}`)
  if (placeOf(context.at(-1) ?? -1) >= begins) throw new Error(`the context ends with ${placeOf(context.at(-1) ?? -1)}, the audio begins with ${begins}`)
  const said = sounds
    .filter(({ place }) => place >= (known.at(-1) ?? -1))
    .flatMap((sound) => saidOf(sound, (kinds.get(sound.place) ?? []).map(kindOf), isDraft))
  const text = said.map((word) => word.text).join('')
  const segments = text === '' ? [] : [{ start: said[0]?.start ?? 0, end: said.at(-1)?.end ?? 0, text }]
  return { segments, words: said, isLoop: false, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2 }
}
