import type { Either } from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { SegmentWord } from '../../domain/transcript/events.ts'
import type { JobFailed, ModelLoadFailed, Vocabulary } from '../ports/engine.ts'

export type { Vocabulary }

/** Language code of a session whose language is detected from the audio. */
export const AUTO_LANGUAGE = 'auto'

/** A segment of text. `text` has no line breaks. `caption` is wrapped into lines. */
export interface Segment {
  readonly segment: number
  /** Seconds from the first audio. */
  readonly start: number
  readonly end: number
  readonly text: string
  readonly caption: string
  /** The words of a final segment, from a model that returns word times. Joined, they form `text`. */
  readonly words?: ReadonlyArray<SegmentWord>
  /** The detected language. Absent for a session with a fixed language. */
  readonly language?: string
}

export interface PipelineEvents {
  /** A draft of a segment, which replaces its earlier drafts. Sent only in mode `partial`. */
  readonly partial: (segment: Segment) => void
  /** A final segment. The pipeline awaits each call, so finals are stored and sent in order. */
  readonly final: (segment: Segment) => Promise<void>
  /** The engine failed for this session. No further event follows. */
  readonly failed: (failure: ModelLoadFailed | JobFailed) => void
  /** The backlog has shrunk. */
  readonly drained: () => void
}

/** Turns the audio of one session into segments. */
export interface LivePipeline {
  /** Takes effect from the next pass. Has no effect after the first audio. */
  readonly configure: (settings: EngineSettings) => void
  /** Takes effect from the next pass. */
  readonly setVocabulary: (vocabulary: Vocabulary) => void
  /** Loads the model. Audio that arrives during the load is kept. */
  readonly start: () => Promise<Either<ModelLoadFailed, void>>
  /** Adds audio: s16le, 16 kHz, mono. Copies the samples. */
  readonly push: (samples: Int16Array) => void
  /** Seconds of received audio that no pass has processed yet. */
  readonly backlogSeconds: () => number
  /** Number of samples, from the first audio, before which all speech is in emitted finals. */
  readonly settledSamples: () => number
  /**
   * Transcribes the received audio and emits the last finals, within `limitMs` milliseconds. If it is called again, the
   * earliest limit counts. `isContinued`: another process has the audio after the last final. If the word times are
   * exact, only the known words become final that no later audio can change. The other words are left to that process.
   */
  readonly finish: (limitMs: number, isContinued?: boolean) => Promise<void>
  /** Stops immediately, without further events. */
  readonly abort: () => void
}

export type CreatePipeline = (options: {
  readonly liveId: number
  readonly model: string
  /** A language code of the model, or AUTO_LANGUAGE. */
  readonly language: string
  /** `translate`: the speech model itself translates into English. */
  readonly task?: 'transcribe' | 'translate'
  readonly vocabulary?: Vocabulary
  readonly settings: EngineSettings
  readonly nextSegment: number
  readonly events: PipelineEvents
}) => LivePipeline
