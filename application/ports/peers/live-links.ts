import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveStatus } from '../read-models.ts'

/*
 * One link for each pair of (process with sockets, live that another process runs). Replies and lines come in one order.
 * Messages are plain data, so that they pass as JSON; a sender's binary frames pass as they came.
 */

/** Version of these messages. */
export const RELAY_VERSION = 1

/** A member to be dialled. */
export interface Peer {
  readonly name: string
  readonly incarnation: string
  /** `host:port`. */
  readonly address: string
}

/** Where a sender's audio stands: frame numbers of one sender socket from 1, samples of the live from its first ever. */
export interface AudioPlace {
  readonly frame: number
  readonly sample: number
}

/** A line of text, and an end, as they pass: the shapes of `application/pipeline/signals.ts`. */
export type Passed = Readonly<Record<string, unknown>>

/** From the process with the sockets to the worker. */
export type ToWorker =
  /** First, once. `listens`: lines are wanted. */
  | { readonly kind: 'hello'; readonly relay: number; readonly term: number; readonly listens: boolean }
  /** Lines are wanted from now on, or no longer. */
  | { readonly kind: 'listen'; readonly listens: boolean }
  /**
   * A sender asks for the live's place. `from` (of one that comes again behind a broken link): its next frame has this
   * number, and begins at this sample; null for a new socket.
   */
  | {
      readonly kind: 'sender'
      readonly requestId: string
      readonly from: AudioPlace | null
    }
  /**
   * A frame of the sender that has the place, as it came from its socket. Both ends number texts and binary frames as they
   * are sent, from `from.frame` on, or 1. `null` text is a ping of the protocol itself, without a number.
   */
  | { readonly kind: 'text'; readonly text: string | null }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }
  /** The socket of this sender is gone; `how` as its handshake or socket ended. */
  | { readonly kind: 'gone'; readonly requestId: string; readonly how: 'clean' | 'broken' | 'abandoned' }

/** Why a sender does not get the place. */
export type SenderRefusal = 'already_connected' | 'over' | 'unavailable'

/** From the worker to the process with the sockets. */
export type FromWorker =
  /** The answer to `hello`: the live is run here in this term. */
  | { readonly kind: 'here'; readonly term: number; readonly status: LiveStatus }
  /** It is not run here; the link is closed. `worker` and `term` as this process knows them. */
  | { readonly kind: 'elsewhere'; readonly worker: string | null; readonly term: number | null }
  /**
   * Behind `here` or `listen` with lines: the newest finals that were told, in order. `isWhole`: they reach back to the
   * first of the live. `dropped`: those of them that no log holds, by their keys.
   */
  | {
      readonly kind: 'recent'
      readonly finals: ReadonlyArray<Passed>
      readonly isWhole: boolean
      readonly dropped: ReadonlyArray<string>
    }
  /** What the live's bus tells (a LiveSignal, an end among them). */
  | { readonly kind: 'signal'; readonly signal: Passed }
  /** The answer to `sender`. */
  | { readonly kind: 'admitted'; readonly requestId: string }
  | { readonly kind: 'refused'; readonly requestId: string; readonly why: SenderRefusal }
  /** A frame to the sender alone. */
  | { readonly kind: 'reply'; readonly frame: string }
  /** Last words to the sender: its socket is to be closed. */
  | { readonly kind: 'close'; readonly frame: string; readonly close: number; readonly reason: string }
  /** The sender's socket is not to be read, or again. */
  | { readonly kind: 'hold'; readonly on: boolean }
  /** The worker is done with all frames up to here; each second while frames come, and before each `reply`, which answers the last. */
  | ({ readonly kind: 'heard' } & AudioPlace)
  /** All audio up to here is in stored finals or was settled as silence: it is never asked for again. */
  | ({ readonly kind: 'covered' } & AudioPlace)

export interface LiveLink {
  readonly send: (message: ToWorker) => void
  /** Bytes that the peer has not taken yet. */
  readonly buffered: () => number
  /** Frames under way are sent first. */
  readonly close: () => void
}

export interface LinkEvents {
  readonly message: (message: FromWorker) => void
  /** Once, also where it never opened; nothing comes behind it. `why` for people. */
  readonly closed: (why: string) => void
}

/** The other process does not answer, is another incarnation, or does not have our key. */
export interface Unreachable {
  readonly _tag: 'Unreachable'
  readonly reason: string
}

/** The end of a live, asked of its worker: an EndRequest and an Ended of `application/lives/end-by-worker.ts` as they pass. */
export interface EndMessage {
  readonly liveId: number
  readonly end: Passed
}

/** How a process reaches the workers of others. */
export interface LiveLinks {
  /** Dials at once; what is sent before it is open is sent then. */
  readonly open: (to: Peer, liveId: number, events: LinkEvents) => LiveLink
  /** Null: it is not run there (any more). Left without an answer in `limitMs`. */
  readonly end: (to: Peer, message: EndMessage, limitMs: number) => Promise<Either<Unreachable, Passed | null>>
  readonly close: () => Promise<void>
}

/** A link as the worker has it. */
export interface WorkerLink {
  readonly send: (message: FromWorker) => void
  readonly buffered: () => number
  readonly close: () => void
}

/** What a worker does with the links that others open to it. */
export interface LinkHandler {
  /** Answers who hears the link. */
  readonly open: (liveId: number, link: WorkerLink) => {
    readonly message: (message: ToWorker) => void
    /** The link broke or was closed, by whomever; nothing comes behind it. */
    readonly closed: () => void
  }
  readonly end: (message: EndMessage) => Promise<Passed | null>
}
