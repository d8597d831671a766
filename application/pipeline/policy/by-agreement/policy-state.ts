import { SAMPLE_RATE } from '../../../ports/engine.ts'
import type { Segment } from '../../pipeline.ts'
import { withKnownTimes } from './alignment.ts'
import { insert, NO_AGREEMENT, trim } from './local-agreement.ts'
import type { Agreement } from './local-agreement.ts'
import type { Limits } from '../policy-limits.ts'
import { finalSegments } from '../segments.ts'
import type { Word } from '../words.ts'

/** How far the words of a live have come. Positions in samples from the first audio, word times in seconds. */
export interface PolicyState {
  /** The next pass hears the audio from here on. */
  readonly bufferStart: number
  /** Audio before this went through a pass, or held no speech. */
  readonly heardEnd: number
  /** Words of the open segment whose audio has left the buffer. */
  readonly settled: ReadonlyArray<Word>
  /** Words heard in the buffer; the first `finalCount` committed ones are in finals already. */
  readonly agreement: Agreement
  readonly finalCount: number
  /** All words of the buffer as the last good pass heard them; it had more to go by than those before. */
  readonly latest: ReadonlyArray<Word>
  /** Where the last pass ended, and the last one that heard another text than the one before it. */
  readonly passEnd: number
  readonly changedAt: number
  /** Number of the open segment. */
  readonly segment: number
  /** Words of the open segment's last partial; none before the first. */
  readonly shown: ReadonlyArray<Word>
  readonly lastFinalEnd: number
}

export const initialPolicy = (segment: number): PolicyState => ({
  bufferStart: 0,
  heardEnd: 0,
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

/** Samples before an instant in seconds. */
export const sampleAt = (seconds: number): number => Math.round(seconds * SAMPLE_RATE)

/** Words that begin before `end`: a pass up to there can have heard them. */
export const before = (words: ReadonlyArray<Word>, end: number): ReadonlyArray<Word> => words.filter(({ start }) => sampleAt(start) < end)

/** Words of the open segment that LocalAgreement will not change any more. */
export const fixedWords = (state: PolicyState): ReadonlyArray<Word> => [...state.settled, ...state.agreement.committed.slice(state.finalCount)]

/** The open segment as it is shown. */
export const openWords = (state: PolicyState): ReadonlyArray<Word> => [...fixedWords(state), ...state.agreement.pending]

/** The open words of the buffer up to `end`, as the last good pass heard them where it heard any. */
const bestWords = (state: PolicyState, end: number): ReadonlyArray<Word> => {
  const known = before(state.agreement.committed.slice(0, state.finalCount), end)
  const done = { committed: known, pending: [], committedEnd: known.at(-1)?.end ?? 0 }
  const latest = insert(done, withKnownTimes(known, state.latest), 'keep')
  return latest.length > 0 ? latest : before([...state.agreement.committed.slice(state.finalCount), ...state.agreement.pending], end)
}

/** Takes the words before `start` as they are; the buffer begins anew there and its unconfirmed tail is cleared. */
export const settle = (state: PolicyState, start: number): PolicyState => {
  // Finals behind a cut are heard again and must be known then.
  const known = trim({ ...state.agreement, committed: state.agreement.committed.slice(0, state.finalCount) }, start / SAMPLE_RATE).committed
  const settled = [...state.settled, ...bestWords(state, start)]
  return {
    ...state,
    settled,
    agreement: { committed: known, pending: [], committedEnd: known.at(-1)?.end ?? settled.at(-1)?.end ?? state.lastFinalEnd },
    finalCount: known.length,
    latest: [],
    bufferStart: start,
    heardEnd: start,
    changedAt: start,
  }
}

/**
 * The buffer begins at `start` from now on; words that are final and still in it stay known. So does the word before
 * them: times are estimates, and next to a pause it may sound behind `start` too.
 */
export const forget = (state: PolicyState, start: number): PolicyState => {
  const { committed } = state.agreement
  const inside = trim(state.agreement, start / SAMPLE_RATE).committed.length
  const left = inside === 0 ? committed.length : Math.max(0, committed.length - inside - 1)
  const agreement = { ...state.agreement, committed: committed.slice(left) }
  const finalCount = Math.max(0, state.finalCount - left)
  return { ...state, bufferStart: start, agreement, finalCount, latest: [...agreement.committed, ...agreement.pending] }
}

/** Takes all words that were heard as they are; their audio stays in the buffer. */
export const confirmAll = (state: PolicyState): PolicyState => {
  const committed = [...state.agreement.committed.slice(0, state.finalCount), ...bestWords(state, state.heardEnd)]
  return { ...state, agreement: { committed, pending: [], committedEnd: committed.at(-1)?.end ?? 0 } }
}

/** Makes finals of the first `count` fixed words; the segment that follows begins with the others. */
export const finalise = (
  state: PolicyState,
  count: number,
  limits: Limits,
): { readonly state: PolicyState; readonly finals: ReadonlyArray<Segment> } => {
  const finals = finalSegments(fixedWords(state).slice(0, count), limits.shape, state.segment, state.lastFinalEnd)
  const done = {
    ...state,
    settled: state.settled.slice(count),
    finalCount: Math.min(state.agreement.committed.length, state.finalCount + Math.max(0, count - state.settled.length)),
  }
  if (finals.length === 0) return { state: done, finals }
  return {
    finals,
    state: { ...done, segment: state.segment + finals.length, shown: [], lastFinalEnd: finals.at(-1)?.end ?? state.lastFinalEnd },
  }
}
