import { type Beginning, type Hypothesis, SAMPLE_RATE } from '../../ports/engine.ts'
import type { Segment } from '../pipeline.ts'
import type { Region, SegmenterState } from '../speech/speech-segmenter.ts'
import type { Limits } from './policy-limits.ts'

/** Why words of a model are discarded: no speech, a decoder loop, bad scores, a repetition, or low confidence. */
export const DISCARD_CAUSES = ['silence', 'loop', 'rejected', 'repeated', 'unsure'] as const
export type DiscardCause = (typeof DISCARD_CAUSES)[number]

/** The number of words that a pass discarded, and why. */
export interface DiscardedWords {
  readonly cause: DiscardCause
  readonly words: number
}

/** The result of a step. */
export interface Outcome {
  /** New final segments, in order. */
  readonly finals: ReadonlyArray<Segment>
  /** Draft of the open segment. Null when it has not changed. */
  readonly partial: Segment | null
  /** Null or absent for drafts, because their audio is transcribed again. */
  readonly discarded?: DiscardedWords | null
}

/** A pass of the engine over the audio [from, to), in samples from the first audio. */
export interface Pass {
  readonly from: number
  readonly to: number
  readonly beginning?: Beginning
  /** True for a quick pass for the newest words during speech. */
  readonly isDraft?: boolean
  /** True when the speech continues after `to`, so the last word may be cut off. */
  readonly isSpeaking?: boolean
}

/** The next step of a policy. `emit`: send text without a pass. `endsPhrase`: the first phrase is completely final. */
export type Step =
  | { readonly kind: 'wait' }
  | { readonly kind: 'pass'; readonly pass: Pass }
  | { readonly kind: 'emit'; readonly endsPhrase: boolean; readonly outcome: Outcome }

/** The progress of a policy, in samples from the first audio. */
export interface PolicyProgress {
  /** The audio before this sample is transcribed. */
  readonly transcribedEnd: number
  /** The audio before this sample is not needed again. */
  readonly neededFrom: number
  /** All speech before this sample is in finals. */
  readonly settled: number
}

/** Length of the newest audio that is kept during silence, because a speech region may still begin in it. */
export const LOOK_BACK_SAMPLES = SAMPLE_RATE

/** `isOpen`: true when some words are not final yet, or some audio is doubtful. */
interface FinalisedAudio {
  /** End of the last final segment, in samples. */
  readonly finalEnd: number
  /** The first sample of the next pass. */
  readonly bufferStart: number
  readonly isOpen: boolean
}

/** Returns the sample before which all speech is in finals. */
export const settledBy = (
  { phrases, clock }: SegmenterState,
  { finalEnd, bufferStart, isOpen }: FinalisedAudio,
): number => {
  if (isOpen) return finalEnd
  return Math.max(finalEnd, phrases.length === 0 ? clock - LOOK_BACK_SAMPLES : bufferStart)
}

/** Decides when the passes of one session run and turns their results into segments. It applies one pass at a time. */
export interface StreamingPolicy {
  readonly progress: (speech: SegmenterState) => PolicyProgress
  /** Returns the next step. Requires at least one phrase. */
  readonly next: (speech: SegmenterState, limits: Limits) => Step
  /** Processes the hypothesis of a pass. `regions`: the speech in its audio. */
  readonly applyPass: (regions: ReadonlyArray<Region>, pass: Pass, hypothesis: Hypothesis, limits: Limits) => Outcome
  /** Drops all words that are not final and starts again at a sample, without context. Used after a wrong language. */
  readonly restart: (from: number) => void
  /**
   * Makes all known words final, because no further pass will run. `isContinued`: only the words that no later audio
   * can change, because another process transcribes the audio after them.
   */
  readonly finishNow: (limits: Limits, isContinued?: boolean) => Outcome
  /** False: the policy only estimates where a word ends, so another process cannot continue between two words. */
  readonly knowsWordEnds: boolean
  /** Returns the sample up to which the detector should run next. */
  readonly nextDetection: (speech: SegmenterState, limits: Limits) => number
}
