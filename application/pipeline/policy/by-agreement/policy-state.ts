import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Segment } from '../../pipeline.ts'
import { withKnownTimes } from './alignment.ts'
import { type Agreement, newWordsOf, NO_AGREEMENT, trim } from './local-agreement.ts'
import type { Limits } from '../policy-limits.ts'
import { finalSegments } from '../segments.ts'
import type { Word } from '../words.ts'

/** The state of the policy. Positions are in samples from the first audio. Word times are in seconds. */
export interface PolicyState {
  /** The next pass begins with this sample. */
  readonly bufferStart: number
  /** The audio before this sample is transcribed or has no speech. */
  readonly transcribedEnd: number
  /** Words of the open segment whose audio has left the buffer. */
  readonly settled: ReadonlyArray<Word>
  readonly agreement: Agreement
  /** Number of committed words, from the first, that are already in final segments. */
  readonly finalCount: number
  /** All words of the last good pass, which had more context than the earlier passes. */
  readonly latest: ReadonlyArray<Word>
  readonly passEnd: number
  readonly changedAt: number
  readonly segment: number
  /** Words of the last draft of the open segment. */
  readonly shown: ReadonlyArray<Word>
  /** End of the last final segment, in seconds. */
  readonly lastFinalEnd: number
}

export const initialPolicy = (segment: number): PolicyState => ({
  bufferStart: 0,
  transcribedEnd: 0,
  settled: [],
  agreement: NO_AGREEMENT,
  finalCount: 0,
  latest: [],
  passEnd: 0,
  changedAt: 0,
  segment,
  shown: [],
  lastFinalEnd: 0,
})

export const sampleAt = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/** Returns the words that start before `end`, so a pass up to `end` can contain them. */
export const startingBefore = (words: ReadonlyArray<Word>, end: number): ReadonlyArray<Word> =>
  words.filter(({ start }) => sampleAt(start) < end)

/** Returns the words of the open segment that will not change. */
export const fixedWords = (state: PolicyState): ReadonlyArray<Word> =>
  [...state.settled, ...state.agreement.committed.slice(state.finalCount)]

/** Returns all words of the open segment, as they are shown. */
export const openWords = (state: PolicyState): ReadonlyArray<Word> => [...fixedWords(state), ...state.agreement.pending]

/** Returns the open words of the buffer up to `end`, from the last good pass if it has any. */
const bestWords = (state: PolicyState, end: number): ReadonlyArray<Word> => {
  const known = startingBefore(state.agreement.committed.slice(0, state.finalCount), end)
  const done = { committed: known, pending: [], committedEnd: known.at(-1)?.end ?? 0 }
  const latest = newWordsOf(done, withKnownTimes(known, state.latest), 'keep')
  if (latest.length > 0) return latest
  return startingBefore([...state.agreement.committed.slice(state.finalCount), ...state.agreement.pending], end)
}

/** Fixes the words before `start` and begins a new buffer there, without unconfirmed words. */
export const settle = (state: PolicyState, start: number): PolicyState => {
  // Final words after the cut stay known, because their audio is transcribed again.
  const finals = { ...state.agreement, committed: state.agreement.committed.slice(0, state.finalCount) }
  const known = trim(finals, start / SAMPLE_RATE).committed
  const settled = [...state.settled, ...bestWords(state, start)]
  const committedEnd = known.at(-1)?.end ?? settled.at(-1)?.end ?? state.lastFinalEnd
  return {
    ...state,
    settled,
    agreement: { committed: known, pending: [], committedEnd },
    finalCount: known.length,
    latest: [],
    bufferStart: start,
    transcribedEnd: start,
    changedAt: start,
  }
}

/**
 * Starts the buffer at `start`. Final words after `start` stay known. The word before them stays known too, because
 * word times are estimates and this word may really be spoken after `start`.
 */
export const startBufferAt = (state: PolicyState, start: number): PolicyState => {
  const { committed } = state.agreement
  const inside = trim(state.agreement, start / SAMPLE_RATE).committed.length
  const removed = inside === 0 ? committed.length : Math.max(0, committed.length - inside - 1)
  const agreement = { ...state.agreement, committed: committed.slice(removed) }
  const finalCount = Math.max(0, state.finalCount - removed)
  return { ...state, bufferStart: start, agreement, finalCount, latest: [...agreement.committed, ...agreement.pending] }
}

/** Fixes all words. Their audio stays in the buffer. */
export const confirmAll = (state: PolicyState): PolicyState => {
  const committed = [...state.agreement.committed.slice(0, state.finalCount), ...bestWords(state, state.transcribedEnd)]
  return { ...state, agreement: { committed, pending: [], committedEnd: committed.at(-1)?.end ?? 0 } }
}

/** Makes the first `count` fixed words final. The next segment begins with the other words. */
export const finalise = (
  state: PolicyState,
  count: number,
  limits: Limits,
): { readonly state: PolicyState; readonly finals: ReadonlyArray<Segment> } => {
  const finals = finalSegments(fixedWords(state).slice(0, count), limits.shape, state.segment, state.lastFinalEnd)
  const done = {
    ...state,
    settled: state.settled.slice(count),
    finalCount: Math.min(
      state.agreement.committed.length,
      state.finalCount + Math.max(0, count - state.settled.length),
    ),
  }
  if (finals.length === 0) return { state: done, finals }
  return {
    finals,
    state: {
      ...done,
      segment: state.segment + finals.length,
      shown: [],
      lastFinalEnd: finals.at(-1)?.end ?? state.lastFinalEnd,
    },
  }
}
