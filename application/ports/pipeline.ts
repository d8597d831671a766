import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { JobFailed, ModelLoadFailed } from './engine.ts'

/** A segment that will not change again: `text` is unwrapped, `caption` wrapped. */
export interface Segment {
  readonly segment: number
  /** Seconds from the first audio. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly caption: string
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
  /** Loads the model; audio may be pushed meanwhile and waits. */
  readonly start: () => TaskEither<ModelLoadFailed, void>
  /** s16le 16 kHz mono. Copies what it keeps. */
  readonly push: (samples: Int16Array) => void
  /** Seconds of audio pushed and not yet consumed. */
  readonly backlogSeconds: () => number
  /** No more audio: transcribes what is there, emits the last finals, at most `limitMs` of wall time: of several calls the one that is due first. */
  readonly finish: (limitMs: number) => Promise<void>
  /** At once, emits nothing more. */
  readonly abort: () => void
}

export type CreatePipeline = (options: {
  readonly liveId: number
  readonly model: string
  readonly language: string
  readonly settings: EngineSettings
  /** Number of the first segment. */
  readonly nextSegment: number
  readonly events: PipelineEvents
}) => LivePipeline

/**
 * How far the texts of the lives that run in this process are behind their audio: the age of the oldest audio in which speech
 * may be that no pass has heard, in seconds of wall time; 0 where there is none.
 */
export interface Lags {
  /** Of a live that begins; what it answers is called at its end. */
  readonly follow: (liveId: number, seconds: () => number) => () => void
  /** A pass is done: so old had the oldest audio become that it was the first to hear. */
  readonly heard: (seconds: number) => void
  readonly current: () => ReadonlyArray<number>
  /** Of one live; null where it does not run here. */
  readonly of: (liveId: number) => number | null
  /** Tells every later `heard`. */
  readonly onHeard: (observe: (seconds: number) => void) => void
}
