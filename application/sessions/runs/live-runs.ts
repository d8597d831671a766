import type { AttachedLive } from '../../lives/attached-live.ts'
import type { SourcePoint } from '../../lives/source-point.ts'
import type { Origin } from '../../log/origin.ts'
import type { EndCause } from '../../pipeline/signals.ts'

/** For how long a sender is awaited, and how the live ends without it. */
export interface ExpectedSender {
  /** Milliseconds. */
  readonly graceMs: number
  readonly cause: EndCause
  readonly origin: Origin
}

/** The lives that run in this process, for whoever hears from the log which are to run here (`run-lives.ts`). */
export interface LiveRuns {
  readonly all: () => ReadonlyArray<number>
  /** In which term the live runs here, null where it does not. */
  readonly termOf: (liveId: number) => number | null
  readonly hasSender: (liveId: number) => boolean
  /** Of its audio so far, what was lost included; null where it does not run. */
  readonly audioSeconds: (liveId: number) => number | null
  /** Pulls the source of an auto-started live from that point on; does nothing where it is pulled already. */
  readonly pull: (liveId: number, live: AttachedLive, point: SourcePoint) => void
  /**
   * Loads the model of a live whose sender went with the worker before, and waits so long for the sender to come again;
   * then the live ends so. Does nothing where it runs already.
   */
  readonly awaitSender: (liveId: number, live: AttachedLive, point: SourcePoint, end: ExpectedSender) => void
  /** Takes no more audio, and transcribes and translates what was heard. The live stays as it is. */
  readonly speakOut: (liveId: number, limitMs: number) => Promise<void>
  /** Its terminal event stands: what another ended stops at once, and says nothing more. */
  readonly stop: (liveId: number) => void
  /** It is over for everybody: its sockets are told. */
  readonly ended: (liveId: number, cause: EndCause) => void
  /** Another worker has it: what runs here ends nothing and writes nothing. */
  readonly drop: (liveId: number) => void
}
