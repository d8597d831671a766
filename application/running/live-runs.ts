import type { EndCause } from '../../domain/live/events.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { Origin } from '../log/origin.ts'
import type { SampleFormat } from '../pipeline/speech/sample-format.ts'

/** A wait for a returning sender, and the end of the session if the sender does not return. */
export interface ExpectedSender {
  /** Longest wait in milliseconds. */
  readonly graceMs: number
  readonly cause: EndCause
  readonly origin: Origin
}

/** Controls the sessions of this process. `run-lives.ts` uses it to apply the log. */
export interface LiveRuns {
  readonly all: () => ReadonlyArray<number>
  /** Returns the leadership term in which the session runs here. Null when it does not run here. */
  readonly termOf: (liveId: number) => number | null
  readonly hasSender: (liveId: number) => boolean
  /** Returns the seconds of audio so far, including lost audio. Null when the session does not run here. */
  readonly audioSeconds: (liveId: number) => number | null
  /** Returns what the samples of the sender seem to be, if they are not the wanted ones. Null when nothing is known. */
  readonly wrongSamples: (liveId: number) => SampleFormat | null
  /** Pulls the source of an auto-started session from this point on. Does nothing when the source is already pulled. */
  readonly pull: (liveId: number, live: AttachedLive, point: SourcePoint) => void
  /**
   * Loads the model of a session that lost its sender together with the earlier worker. Waits for the sender to return.
   * If it does not return, the session ends with the cause in `end`. Does nothing when the session already runs.
   */
  readonly awaitSender: (liveId: number, live: AttachedLive, point: SourcePoint, end: ExpectedSender) => void
  /** Takes no more audio, and transcribes and translates the received audio. The session stays open. */
  readonly finishTranscribing: (liveId: number, limitMs: number) => Promise<void>
  /**
   * The same for a session that moves to another worker. The process of its sender sends the audio after the last final
   * again, so words that are not certain yet can be left to the other worker.
   */
  readonly finishBeforeMove: (liveId: number, limitMs: number) => Promise<void>
  /** Call this when the end is stored. Stops a session that another process ended, without further text. */
  readonly stop: (liveId: number) => void
  /** Reports the end to the sockets of the session. */
  readonly ended: (liveId: number, cause: EndCause) => void
  /** Call this when another worker runs the session. Stops it here without an end and without writes. */
  readonly drop: (liveId: number) => void
}
