import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { JobFailed, ModelLoadFailed } from '../ports/engine.ts'

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
