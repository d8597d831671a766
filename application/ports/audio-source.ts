/** Where a live's audio is pulled from. */
export interface SourceTarget {
  /** May hold secrets: never logged. */
  readonly url: string
  /** HLS goes on after this media sequence, −1 before all; null: wherever the source begins. */
  readonly mediaSequence: number | null
}

export type PullEnd =
  /** The source is over and said so (D56). */
  | { readonly kind: 'complete' }
  /** It said that it is over, but may come back: finished when nothing does in the time of all retries (D56). */
  | { readonly kind: 'interrupted' }
  /** `code` says why and holds no secret; `retry` is false where another attempt cannot help. */
  | { readonly kind: 'failed'; readonly code: string; readonly retry: boolean }

/** How a stretch of audio follows what was heard before it. */
export interface Continuity {
  /** Seconds between them that the source itself calls lost; null: it does not tell. */
  readonly lost: number | null
  /** Its times have nothing to do with those before, as behind a discontinuity of HLS. */
  readonly newClock: boolean
}

export interface PullerEvents {
  /** The processes of this attempt are up; from now on its silence is the source's. */
  readonly began: () => void
  /** The next audio begins a new stretch, of which some may be missing. */
  readonly stretch: (continuity: Continuity) => void
  /** s16le 16 kHz mono, in order; `time`: of the first sample, in seconds of the media's own clock, null for none. */
  readonly audio: (samples: Int16Array, time: number | null) => void
  /** All audio of this HLS media sequence has been delivered, or the audio of this source begins behind it. */
  readonly heard: (mediaSequence: number) => void
  /** The segments of this HLS source last so long. */
  readonly targetDuration: (seconds: number) => void
  /** Once for each `pull`, after all its audio. */
  readonly ended: (end: PullEnd) => void
  /** Once: the process is gone without having been stopped, or never began. */
  readonly died: (reason: string) => void
}

/** The process that pulls one live's source. */
export interface Puller {
  /** Null when it could not be started. */
  readonly pid: number | null
  /** One attempt; the next one only after `ended`. */
  readonly pull: (target: SourceTarget) => void
  /** No audio is delivered until `resume`; soon the process stops reading its source. */
  readonly pause: () => void
  readonly resume: () => void
  /** Resolves when it and its children are gone; no event follows the call. */
  readonly stop: () => Promise<void>
}

export type StartPuller = (events: PullerEvents) => Puller
