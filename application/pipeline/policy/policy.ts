import { SAMPLE_RATE } from '../../ports/engine.ts'
import type { Beginning, Hypothesis } from '../../ports/engine.ts'
import type { Segment } from '../pipeline.ts'
import type { Region, SegmenterState } from '../speech/speech-segmenter.ts'
import type { Limits } from './policy-limits.ts'

/** Why words that a model said are in no text: nobody spoke, it was stuck, its scores are bad, it said them before, or it was not sure. */
export const LEFT_OUT_CAUSES = ['silence', 'loop', 'rejected', 'repeated', 'unsure'] as const
export type LeftOutCause = (typeof LEFT_OUT_CAUSES)[number]

/** Words of a pass that nobody will read. */
export interface LeftOut {
  readonly cause: LeftOutCause
  readonly words: number
}

/** Finals in order, then the open segment as it is to be shown, null where nothing changed. */
export interface Outcome {
  readonly finals: ReadonlyArray<Segment>
  readonly partial: Segment | null
  /** Not of drafts: what those leave out is heard again. */
  readonly leftOut?: LeftOut | null
}

/** The engine hears [from, to), in samples from the first audio. */
export interface Pass {
  readonly from: number
  readonly to: number
  readonly beginning?: Beginning
  /** A look at the newest words while somebody speaks. */
  readonly isDraft?: boolean
  /** Somebody speaks on at its end: the last of what is heard may be half a word. */
  readonly isSpeaking?: boolean
}

/** `say`: nothing is to be heard first. `endsPhrase`: the first phrase was spoken out. */
export type Step =
  | { readonly kind: 'wait' }
  | { readonly kind: 'pass'; readonly pass: Pass }
  | { readonly kind: 'say'; readonly endsPhrase: boolean; readonly outcome: Outcome }

/** What a policy knows, for whoever keeps the audio; in samples from the first audio. */
export interface Known {
  /** Audio before it was heard for good. */
  readonly heardEnd: number
  /** Audio before it is not heard again. */
  readonly neededFrom: number
  /** What was said before it is in finals that were made; the rest of that audio held no words. */
  readonly settled: number
}

/** While nobody speaks a detector looks back by less. */
export const LOOK_BACK = SAMPLE_RATE

/** `finalEnd`: where the last final ends; `isOpen`: words were heard that are in no final, or audio is doubted. */
export const settledBy = (
  { phrases, clock }: SegmenterState,
  { finalEnd, bufferStart, isOpen }: { readonly finalEnd: number; readonly bufferStart: number; readonly isOpen: boolean },
): number => {
  if (isOpen) return finalEnd
  return Math.max(finalEnd, phrases.length === 0 ? clock - LOOK_BACK : bufferStart)
}

/** Turns the passes over one live's audio into segments: says what is to be heard when, and what is shown of it. Not reentrant. */
export interface StreamingPolicy {
  readonly known: (speech: SegmenterState) => Known
  /** There must be a phrase. */
  readonly next: (speech: SegmenterState, limits: Limits) => Step
  /** Takes in what `pass` heard; `regions`: where in its audio somebody spoke. */
  readonly hear: (regions: ReadonlyArray<Region>, pass: Pass, hypothesis: Hypothesis, limits: Limits) => Outcome
  /** What is not final is heard anew from a sample on, where it was taken for another language; nothing is text before it. */
  readonly restart: (from: number) => void
  /** No pass will come any more: what was heard is all there is. */
  readonly giveUp: (limits: Limits) => Outcome
  /** Up to where speech must have been judged before anything can be due; in samples. */
  readonly nextLook: (speech: SegmenterState, limits: Limits) => number
}
