import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { JobFailed, ModelLoadFailed, Vocabulary } from '../ports/engine.ts'

/** A word with its punctuation and the space before it; seconds from the first audio. */
export interface SegmentWord {
  readonly start: number
  readonly end: number
  readonly text: string
  /** How sure the model was of it, 0 to 1. */
  readonly confidence: number
}

export type { Vocabulary }

/** The spoken language is found in the audio. */
export const AUTO_LANGUAGE = 'auto'

/** A segment that will not change again: `text` is unwrapped, `caption` wrapped. */
export interface Segment {
  readonly segment: number
  /** Seconds from the first audio. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly caption: string
  /** Of a final, where the model tells when its words sound: one after another, together the text. */
  readonly words?: ReadonlyArray<SegmentWord>
  /** Which language was heard, where it was to be found. */
  readonly language?: string
}

export interface PipelineEvents {
  /** Replaces earlier ones of the same segment. Only in mode `partial`. */
  readonly partial: (segment: Segment) => void
  /** In order; awaited before the next one, so that a final is stored, then sent. */
  readonly final: (segment: Segment) => Promise<void>
  /** The engine gave this live up; nothing follows. */
  readonly failed: (failure: ModelLoadFailed | JobFailed) => void
  /** Samples were consumed: the backlog shrank. */
  readonly drained: () => void
}

/** Audio of one live in, segments out. */
export interface LivePipeline {
  /** Takes effect from the next pass; only before the first audio. */
  readonly configure: (settings: EngineSettings) => void
  /** Takes effect from the next pass, at any time. */
  readonly expect: (vocabulary: Vocabulary) => void
  /** Loads the model; audio may be pushed meanwhile and waits. */
  readonly start: () => TaskEither<ModelLoadFailed, void>
  /** s16le 16 kHz mono. Copies what it keeps. */
  readonly push: (samples: Int16Array) => void
  /** Seconds of audio pushed and not yet consumed. */
  readonly backlogSeconds: () => number
  /** All that was said in so many samples is in finals that `final` was given, the rest of them held no words. */
  readonly settledSamples: () => number
  /** No more audio: transcribes what is there, emits the last finals, at most `limitMs` of wall time: of several calls the one that is due first. */
  readonly finish: (limitMs: number) => Promise<void>
  /** At once, emits nothing more. */
  readonly abort: () => void
}

export type CreatePipeline = (options: {
  readonly liveId: number
  readonly model: string
  /** A code of the model's, or AUTO_LANGUAGE. */
  readonly language: string
  /** `translate`: the model's own English of what is said. */
  readonly task?: 'transcribe' | 'translate'
  readonly vocabulary?: Vocabulary
  readonly settings: EngineSettings
  /** Number of the first segment. */
  readonly nextSegment: number
  readonly events: PipelineEvents
}) => LivePipeline
