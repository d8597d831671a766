import type { Limits } from '../policy-limits.ts'
import type { Pass } from '../policy.ts'
import { fixedWords, openWords, sampleAt } from './policy-state.ts'
import type { PolicyState } from './policy-state.ts'
import type { Dip, Phrase, Region } from '../../speech/speech-segmenter.ts'
import type { Word } from '../words.ts'

/** `full`: the buffer is full of running speech and must be cut where it ends. */
export interface BufferPass extends Pass {
  readonly kind: 'pass'
  readonly full: boolean
}

/**
 * What to do next. `settle`: all before `at` was heard, the buffer goes on behind it; `full` where it had to. `release`:
 * words are due (mode `final`). `close`: the phrase is over and all of it was heard.
 */
export type Step =
  | { readonly kind: 'wait' }
  | BufferPass
  | { readonly kind: 'settle'; readonly full: boolean; readonly at: number }
  | { readonly kind: 'release' }
  | { readonly kind: 'close' }

/** A dip is looked for in what follows this part of a full buffer. */
const EARLIEST_DIP = 0.5

export const lastRegion = (phrase: Phrase): Region => phrase.regions.at(-1) ?? { start: 0, end: 0 }

/** Without a detector: nothing new was heard for so long that the phrase is over. */
const isQuiet = (state: PolicyState, limits: Limits): boolean =>
  !limits.vad && openWords(state).length > 0 && state.heardEnd - state.changedAt >= limits.phraseSilence

const isDue = (words: ReadonlyArray<Word>, clock: number, limits: Limits): boolean => {
  const oldest = words[0]
  return limits.onlyFinals && oldest !== undefined && clock + limits.interval / 2 >= sampleAt(oldest.end) + limits.maxDelay
}

/**
 * The last pause in the buffer that is long enough, and has enough speech before it, to go on behind it: an engine that is behind has
 * several, and hears them in one pass.
 */
const pauseIn = (state: PolicyState, phrase: Phrase, clock: number, limits: Limits): number | null => {
  const isPause = ({ end }: Region, i: number): boolean => {
    if (end === null) return false
    const before = end - state.bufferStart
    if (before < limits.pause.behind || before > limits.buffer.longest) return false
    return (phrase.regions[i + 1]?.start ?? clock) - end >= limits.pause.length
  }
  return phrase.regions.findLast(isPause)?.end ?? null
}

/** Where to cut a buffer that is full: at its last pause, else in the longest dip of its later part. */
const roomIn = (state: PolicyState, phrase: Phrase, limits: Limits): number | null => {
  const full = state.bufferStart + limits.buffer.longest
  const pause = phrase.regions.findLast(({ end }, i) => end !== null && end > state.bufferStart && end <= full && i < phrase.regions.length - 1)
  if (pause !== undefined) return pause.end
  const earliest = EARLIEST_DIP * limits.buffer.longest
  const late = phrase.dips.filter(({ start, end }) => start - state.bufferStart >= earliest && end <= full)
  const longest = late.reduce<Dip | null>((best, dip) => (best === null || dip.end - dip.start >= best.end - best.start ? dip : best), null)
  return longest === null ? null : Math.round((longest.start + longest.end) / 2)
}

/** Where its words would become final, for nobody finds pauses or looks at drafts, no pass is heard less well. */
const hasDrafts = ({ vad, onlyFinals }: Limits): boolean => vad && !onlyFinals

/** @param clock the audio that speech detection has judged, in samples */
export const nextStep = (state: PolicyState, phrase: Phrase, clock: number, limits: Limits): Step => {
  const last = lastRegion(phrase)
  const end = last.end ?? clock
  const isFull = end - state.bufferStart > limits.buffer.longest
  const pass = (to: number, full = false): BufferPass => ({ kind: 'pass', full, from: state.bufferStart, to })
  if (isQuiet(state, limits)) return { kind: 'close' }
  // Before the next pass: an engine that is behind has one due at any time.
  if (isDue(fixedWords(state), clock, limits)) return { kind: 'release' }
  const pause = pauseIn(state, phrase, clock, limits) ?? (isFull ? roomIn(state, phrase, limits) : null)
  if (pause !== null) return state.passEnd === pause ? { kind: 'settle', full: isFull, at: pause } : pass(pause)
  if (isFull) return pass(state.bufferStart + limits.buffer.longest, true)
  const isUnheard = last.end !== null && end > state.heardEnd
  const wanted = openWords(state).length > 0 ? limits.probe : limits.interval
  if (isUnheard) return pass(end)
  if (end - Math.max(state.heardEnd, last.start) >= wanted) return { ...pass(end), isDraft: hasDrafts(limits) }
  if (isDue(state.agreement.pending, clock, limits)) return { kind: 'release' }
  return phrase.closedAt === null ? { kind: 'wait' } : { kind: 'close' }
}
