import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Segment } from '../../pipeline.ts'
import type { Limits } from '../policy-limits.ts'
import { finalSegments } from '../segments.ts'
import { textOf } from '../words.ts'
import { appendWords, type SpokenWord } from './words.ts'

/** The first pending word with a lower probability, and all words after it, are not shown. */
const MIN_SHOWN_PROBABILITY = 0.4
/** A pending word that ends this close to the end of the audio, and all words after it, are not shown either. */
const HIDDEN_END_SAMPLES = Math.round(0.15 * SAMPLE_RATE)

/** The state of the policy. Positions are in samples from the first audio. */
export interface State {
  /** Passes begin with this sample. */
  readonly bufferStart: number
  readonly transcribedEnd: number
  /** End of the audio that a full pass has confirmed. */
  readonly settledEnd: number
  /** Tokens of the text before the buffer, as context for the model. */
  readonly context: ReadonlyArray<number>
  /** Words in the buffer that drafts do not transcribe again. The first `finals` of them are final. */
  readonly fixed: ReadonlyArray<SpokenWord>
  readonly finals: number
  /** Words after the fixed words, from the last pass. They may change. */
  readonly pending: ReadonlyArray<SpokenWord>
  /**
   * Result of the last draft. `doubted`: the draft was unusable. A word: the last fixed word, with punctuation that
   * certainly ends the phrase. Null in all other cases.
   */
  readonly draft: 'doubted' | SpokenWord | null
  /** End of the draft that last changed the text. */
  readonly changedAt: number
  readonly segment: number
  /** The last shown text of the open segment. */
  readonly shown: string
  /** End of the last final, in seconds. */
  readonly lastFinalEnd: number
}

export const initialState = (segment: number): State => ({
  bufferStart: 0,
  transcribedEnd: 0,
  settledEnd: 0,
  context: [],
  fixed: [],
  finals: 0,
  pending: [],
  draft: null,
  changedAt: 0,
  segment,
  shown: '',
  lastFinalEnd: 0,
})

export const isDoubted = ({ draft }: State): boolean => draft === 'doubted'

export const sampleAt = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

export const finalWords = ({ fixed, finals }: State): ReadonlyArray<SpokenWord> => fixed.slice(0, finals)
export const openFixed = ({ fixed, finals }: State): ReadonlyArray<SpokenWord> => fixed.slice(finals)
export const openWords = ({ fixed, pending, finals }: State): ReadonlyArray<SpokenWord> =>
  appendWords(fixed, pending, finals).slice(finals)
/** Returns the words of the open segment that are shown. */
export const shownWords = (state: State): ReadonlyArray<SpokenWord> => {
  const isUnlikely = ({ end, probability }: SpokenWord): boolean =>
    probability < MIN_SHOWN_PROBABILITY || sampleAt(end) > state.transcribedEnd - HIDDEN_END_SAMPLES
  const unlikely = state.pending.findIndex(isUnlikely)
  return unlikely === -1 ? openWords(state) : openWords({ ...state, pending: state.pending.slice(0, unlikely) })
}

/** Returns the end of the last word in the buffer, or the start of a buffer without words. */
export const lastWordEnd = ({ fixed, pending, bufferStart }: State): number =>
  [...fixed, ...pending].reduce((latest, { end }) => Math.max(latest, sampleAt(end)), bufferStart)

export interface StateWithFinals {
  readonly state: State
  readonly finals: ReadonlyArray<Segment>
}

/** Makes the first `count` open fixed words final. The next segment begins with the other words. */
export const finalise = (state: State, count: number, { shape }: Limits): StateWithFinals => {
  const words = openFixed(state).slice(0, count)
  const done = { ...state, finals: state.finals + words.length }
  if (textOf(words) === '') return { state: done, finals: [] }
  const finals = finalSegments(words, shape, state.segment, state.lastFinalEnd)
  const lastFinalEnd = finals.at(-1)?.end ?? state.lastFinalEnd
  return { finals, state: { ...done, segment: state.segment + finals.length, shown: '', lastFinalEnd } }
}

/** Maximum number of context tokens. No model uses more. */
const MAX_CONTEXT_TOKENS = 448

/** Starts the buffer at `start`. Its first `count` fixed words become context. */
export const cutAt = (state: State, start: number, count: number): State => ({
  ...state,
  bufferStart: start,
  transcribedEnd: Math.max(start, state.transcribedEnd),
  context: [...state.context, ...tokensOf(state.fixed.slice(0, count))].slice(-MAX_CONTEXT_TOKENS),
  fixed: state.fixed.slice(count),
  finals: Math.max(0, state.finals - count),
})

/** Drops all words that are not final and starts again at `from`, without context. */
export const restartAt = (state: State, from: number): State => {
  const { segment, shown, lastFinalEnd } = state
  const at = Math.max(from, state.bufferStart, sampleAt(lastFinalEnd))
  const positions = { bufferStart: at, transcribedEnd: at, settledEnd: at, changedAt: at }
  return { ...initialState(segment), shown, lastFinalEnd, ...positions }
}

export const fixAll = (state: State): State =>
  ({ ...state, fixed: appendWords(state.fixed, state.pending, state.finals), pending: [] })

export const tokensOf = (words: ReadonlyArray<SpokenWord>): ReadonlyArray<number> =>
  words.flatMap(({ tokens }) => tokens)
