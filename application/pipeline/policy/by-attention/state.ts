import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Segment } from '../../pipeline.ts'
import type { Limits } from '../policy-limits.ts'
import { finalSegments } from '../segments.ts'
import { textOf } from '../words.ts'
import { joined } from './words.ts'
import type { SpokenWord } from './words.ts'

/** Probability of a word below which it is not shown while it may change, and how near to the end of the audio none is. */
const UNLIKELY = 0.4
const UNSEEN = Math.round(0.15 * SAMPLE_RATE)

/** What one live's passes have led to; positions in samples from the first audio. */
export interface State {
  /** The audio that passes begin with. */
  readonly bufferStart: number
  /** End of the audio heard. */
  readonly heardEnd: number
  /** End of the audio that was heard anew behind the finals, in a full window. */
  readonly settledEnd: number
  /** Tokens of the text before the buffer. */
  readonly context: ReadonlyArray<number>
  /** Words in the buffer that are not heard again; the first `finals` of them are final. */
  readonly fixed: ReadonlyArray<SpokenWord>
  readonly finals: number
  /** What the last pass heard behind them. */
  readonly pending: ReadonlyArray<SpokenWord>
  /** What drafts left since then: something that could not be used, or the last fixed word with the punctuation that surely ends the phrase. */
  readonly draft: 'doubted' | SpokenWord | null
  /** How far audio was heard when the text last changed. */
  readonly changedAt: number
  /** Number of the open segment. */
  readonly segment: number
  /** Its text as it was shown last. */
  readonly shown: string
  /** End of the last final, in seconds. */
  readonly lastFinalEnd: number
}

export const initialState = (segment: number): State => ({
  bufferStart: 0,
  heardEnd: 0,
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
export const openWords = ({ fixed, pending, finals }: State): ReadonlyArray<SpokenWord> => joined(fixed, pending, finals).slice(finals)
/** The open segment as it is shown; what ends a final word is no part of it. */
export const shownWords = (state: State): ReadonlyArray<SpokenWord> => {
  const isUnlikely = ({ end, probability }: SpokenWord): boolean => probability < UNLIKELY || sampleAt(end) > state.heardEnd - UNSEEN
  const unlikely = state.pending.findIndex(isUnlikely)
  return unlikely === -1 ? openWords(state) : openWords({ ...state, pending: state.pending.slice(0, unlikely) })
}

/** Where the last word in the buffer stops to sound; the start of the buffer where there is none. */
export const lastWordEnd = ({ fixed, pending, bufferStart }: State): number =>
  [...fixed, ...pending].reduce((latest, { end }) => Math.max(latest, sampleAt(end)), bufferStart)

/** A state, and the finals that it made. */
export interface Made {
  readonly state: State
  readonly finals: ReadonlyArray<Segment>
}

/** Makes finals of the first `count` fixed words that are none yet; the segment that follows begins with the others. */
export const finalise = (state: State, count: number, { shape }: Limits): Made => {
  const words = openFixed(state).slice(0, count)
  const done = { ...state, finals: state.finals + words.length }
  if (textOf(words) === '') return { state: done, finals: [] }
  const finals = finalSegments(words, shape, state.segment, state.lastFinalEnd)
  return { finals, state: { ...done, segment: state.segment + finals.length, shown: '', lastFinalEnd: finals.at(-1)?.end ?? state.lastFinalEnd } }
}

/** More than any model reads. */
const LONGEST_CONTEXT = 448

/** The buffer begins at `start`, behind its first `count` fixed words, which are text before it from now on. */
export const cutAt = (state: State, start: number, count: number): State => ({
  ...state,
  bufferStart: start,
  heardEnd: Math.max(start, state.heardEnd),
  context: [...state.context, ...state.fixed.slice(0, count).flatMap(({ tokens }) => tokens)].slice(-LONGEST_CONTEXT),
  fixed: state.fixed.slice(count),
  finals: Math.max(0, state.finals - count),
})

/** Behind the finals nothing is known from `from` on, and no text is before it. */
export const restartAt = (state: State, from: number): State => {
  const { segment, shown, lastFinalEnd } = state
  const at = Math.max(from, state.bufferStart, sampleAt(lastFinalEnd))
  return { ...initialState(segment), shown, lastFinalEnd, bufferStart: at, heardEnd: at, settledEnd: at, changedAt: at }
}

/** Takes all that was heard as it is. */
export const fixAll = (state: State): State => ({ ...state, fixed: joined(state.fixed, state.pending, state.finals), pending: [] })

export const tokensOf = (words: ReadonlyArray<SpokenWord>): ReadonlyArray<number> => words.flatMap(({ tokens }) => tokens)
