import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import { fixedWords, openWords, type PolicyState, sampleAt } from './policy-state.ts'
import type { Dip, Phrase, Region } from '../../speech/speech-segmenter.ts'
import type { Word } from '../words.ts'

/** A pass of this policy. `full`: true when the buffer is full of running speech and must be cut. */
export interface BufferPass extends Pass {
  readonly kind: 'pass'
  readonly full: boolean
}

/**
 * The next step. `settle`: all audio before sample `at` is transcribed, so the buffer starts again there. Its `full` is
 * true when the buffer was full. `release`: words are due (mode `final`). `close`: the phrase has ended and is
 * completely transcribed.
 */
export type Step =
  | { readonly kind: 'wait' }
  | BufferPass
  | { readonly kind: 'settle'; readonly full: boolean; readonly at: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'close' }

/** Dips are only used after this share of a full buffer. */
const EARLIEST_DIP_SHARE = 0.5

export const lastRegion = (phrase: Phrase): Region => phrase.regions.at(-1) ?? { start: 0, end: 0 }

/** Returns whether a phrase without a detector has ended, because passes found no new words for long enough. */
const isQuiet = (state: PolicyState, limits: Limits): boolean =>
  !limits.vad && openWords(state).length > 0 && state.transcribedEnd - state.changedAt >= limits.phraseSilence

const isDue = (words: ReadonlyArray<Word>, clock: number, limits: Limits): boolean => {
  const oldest = words[0]
  if (!limits.onlyFinals || oldest === undefined) return false
  return clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay
}

/**
 * Returns the last pause in the buffer that is long enough and has enough audio before it. Up to the last pause, a busy
 * engine can transcribe the speech before several pauses in one pass.
 */
const pauseIn = (state: PolicyState, phrase: Phrase, clock: number, limits: Limits): number | null => {
  const isPause = ({ end }: Region, i: number): boolean => {
    if (end === null) return false
    const before = end - state.bufferStart
    if (before < limits.pause.minBefore || before > limits.buffer.longest) return false
    return (phrase.regions[i + 1]?.start ?? clock) - end >= limits.pause.length
  }
  return phrase.regions.findLast(isPause)?.end ?? null
}

/** Returns where to cut a full buffer: at its last pause, or else in the longest dip of its later part. */
const cutPointIn = (state: PolicyState, phrase: Phrase, limits: Limits): number | null => {
  const full = state.bufferStart + limits.buffer.longest
  const pause = phrase.regions.slice(0, -1)
    .findLast(({ end }) => end !== null && end > state.bufferStart && end <= full)
  if (pause !== undefined) return pause.end
  const earliest = EARLIEST_DIP_SHARE * limits.buffer.longest
  const late = phrase.dips.filter(({ start, end }) => start - state.bufferStart >= earliest && end <= full)
  const longer = (best: Dip | null, dip: Dip): Dip =>
    best === null || dip.end - dip.start >= best.end - best.start ? dip : best
  const longest = late.reduce<Dip | null>(longer, null)
  return longest === null ? null : Math.round((longest.start + longest.end) / 2)
}

/** Drafts need a detector and mode `partial`. In all other cases the words of a pass may become final. */
const hasDrafts = ({ vad, onlyFinals }: Limits): boolean => vad && !onlyFinals

/**
 * Returns the next step for a phrase.
 *
 * @param clock samples that the detector has processed
 */
export const nextStep = (state: PolicyState, phrase: Phrase, clock: number, limits: Limits): Step => {
  const last = lastRegion(phrase)
  const end = last.end ?? clock
  const isFull = end - state.bufferStart > limits.buffer.longest
  const pass = (to: number, full = false): BufferPass => ({ kind: 'pass', full, from: state.bufferStart, to })
  if (isQuiet(state, limits)) return { kind: 'close' }
  // Checked before the next pass, because on a busy engine a pass is always due.
  if (isDue(fixedWords(state), clock, limits)) return { kind: 'release' }
  const pause = pauseIn(state, phrase, clock, limits) ?? (isFull ? cutPointIn(state, phrase, limits) : null)
  if (pause !== null) return state.passEnd === pause ? { kind: 'settle', full: isFull, at: pause } : pass(pause)
  if (isFull) return pass(state.bufferStart + limits.buffer.longest, true)
  const isNew = last.end !== null && end > state.transcribedEnd
  const wanted = openWords(state).length > 0 ? limits.probe : limits.interval
  if (isNew) return pass(end)
  if (end - Math.max(state.transcribedEnd, last.start) >= wanted) return { ...pass(end), isDraft: hasDrafts(limits) }
  if (isDue(state.agreement.pending, clock, limits)) return { kind: 'release' }
  return phrase.closedAt === null ? { kind: 'wait' } : { kind: 'close' }
}
