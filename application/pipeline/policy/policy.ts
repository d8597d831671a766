import { SAMPLE_RATE } from '../../ports/engine.ts'
import type { Beginning, Hypothesis } from '../../ports/engine.ts'
import type { Segment } from '../pipeline.ts'
import type { Region, SegmenterState } from '../speech/speech-segmenter.ts'
import type { Limits } from './policy-limits.ts'

/** Why words of a model are discarded: no speech, a decoder loop, bad scores, a repetition, or low confidence. */
export const DISCARD_CAUSES = ['silence', 'loop', 'rejected', 'repeated', 'unsure'] as const
export type DiscardCause = (typeof DISCARD_CAUSES)[number]

/** Discarded words of a pass. */
export interface DiscardedWords {
  readonly cause: DiscardCause
  readonly words: number
}

/** The result of a step: finals in order, then the open segment; null for an unchanged open segment. */
export interface Outcome {
  readonly finals: ReadonlyArray<Segment>
  readonly partial: Segment | null
  /** Not counted for drafts, because their audio is transcribed again. */
  readonly discarded?: DiscardedWords | null
}

/** A pass of the engine over the audio [from, to), in samples from the first audio. */
export interface Pass {
  readonly from: number
  readonly to: number
  readonly beginning?: Beginning
  /** A quick pass for the newest words during speech. */
  readonly isDraft?: boolean
  /** The speech continues after `to`, so the last word may be cut off. */
  readonly isSpeaking?: boolean
}

/** The next step of a policy. `emit`: emit without a pass. `endsPhrase`: the first phrase is finalised. */
export type Step =
  | { readonly kind: 'wait' }
  | { readonly kind: 'pass'; readonly pass: Pass }
  | { readonly kind: 'emit'; readonly endsPhrase: boolean; readonly outcome: Outcome }

/** The progress of a policy, for the owner of the audio; in samples from the first audio. */
export interface PolicyProgress {
  /** The audio before this sample is transcribed. */
  readonly transcribedEnd: number
  /** The audio before this sample is not needed again. */
  readonly neededFrom: number
  /** All speech before this sample is in finals. */
  readonly settled: number
}

/** Audio that the detector may still need during silence. */
export const LOOK_BACK_SAMPLES = SAMPLE_RATE

/** `isOpen`: some words are not final yet, or some audio is doubtful. */
interface FinalisedAudio {
  /** End of the last final, in samples. */
  readonly finalEnd: number
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

/** Turns the passes of one session into segments: decides when to run passes and what to show. Not reentrant. */
export interface StreamingPolicy {
  readonly progress: (speech: SegmenterState) => PolicyProgress
  /** Returns the next step. Requires at least one phrase. */
  readonly next: (speech: SegmenterState, limits: Limits) => Step
  /** Processes the hypothesis of a pass. `regions`: the speech in its audio. */
  readonly applyPass: (regions: ReadonlyArray<Region>, pass: Pass, hypothesis: Hypothesis, limits: Limits) => Outcome
  /** Drops all words without finals and starts again at a sample, without context: the language was wrong. */
  readonly restart: (from: number) => void
  /** Makes all known words final, because no further pass will run. */
  readonly finishNow: (limits: Limits) => Outcome
  /** Returns the sample up to which the detector should run next. */
  readonly nextDetection: (speech: SegmenterState, limits: Limits) => number
}
