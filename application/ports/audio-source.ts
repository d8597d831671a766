/** The source from which a session pulls its audio. */
export interface SourceTarget {
  /** May contain secrets, so it is never logged. */
  readonly url: string
  /** HLS: continue after this media sequence. −1: from the first one. Null: from where the source begins. */
  readonly mediaSequence: number | null
  /** The spoken language, to choose among several of a source. Absent: unknown. */
  readonly language?: string
}

export type PullEnd =
  /** The source has reported its end. */
  | { readonly kind: 'complete' }
  /** The source ended but may return. The session finishes if it does not return within all retries. */
  | { readonly kind: 'interrupted'; readonly code: string }
  /**
   * `code`: the reason, without secrets. `retry`: false when another attempt cannot help. `isPublic`: only hosts of the
   * public internet were contacted.
   */
  | { readonly kind: 'failed'; readonly code: string; readonly retry: boolean; readonly isPublic: boolean }

/** The gap between a stretch (audio without a gap) and the audio before it. */
export interface Continuity {
  /** Seconds that the source reports as lost. Null: the source does not report lost audio. */
  readonly lost: number | null
  /** True when the times of the stretch have a new origin, as after a discontinuity in HLS. */
  readonly newClock: boolean
}

export interface PullerEvents {
  /**
   * Audio may be expected from now on: the processes of this attempt have started, the source has announced a gap, or
   * its next address is tried. If no audio follows, the source is the cause.
   */
  readonly began: () => void
  /** The next audio begins a new stretch. Audio before it may be missing. */
  readonly stretch: (continuity: Continuity) => void
  /** The next samples (s16le, 16 kHz, mono). `time`: seconds of the media clock at the first sample. Null: unknown. */
  readonly audio: (samples: Int16Array, time: number | null) => void
  /** All audio up to this HLS media sequence is delivered, or the source begins after it. */
  readonly delivered: (mediaSequence: number) => void
  /** Maximum duration of the segments of this HLS source, as its playlist declares it. */
  readonly targetDuration: (seconds: number) => void
  /** Some audio could not be decoded and is left out. `seconds`: its time after the beginning of the stretch. */
  readonly damaged: (seconds: number) => void
  /** Called once for each `pull`, after all its audio. */
  readonly ended: (end: PullEnd) => void
  /** Called once, when the process could not start or ended unexpectedly. */
  readonly died: (reason: string) => void
}

/** The process that pulls the source of one session. */
export interface Puller {
  /** Null when the process could not be started. */
  readonly pid: number | null
  /** Begins one attempt. Call it again only after `ended`. */
  readonly pull: (target: SourceTarget) => void
  /** Stops the delivery of audio until `resume`. The process soon stops reading the source. */
  readonly pause: () => void
  readonly resume: () => void
  /** Resolves when the process and its children have ended. No event follows the call. */
  readonly stop: () => Promise<void>
}

export type StartPuller = (events: PullerEvents) => Puller
