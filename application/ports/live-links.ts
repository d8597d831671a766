import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveStatus } from './read-models.ts'

// A process with sockets opens one link for each session that another process (its worker) runs. Messages of a link
// keep their order. They are plain data for JSON, except for a sender's binary frames, which pass unchanged. A term is
// the time in which one worker runs the session. Each move to another worker begins the next term.

/** Version of these messages. */
export const RELAY_VERSION = 1

/** Another process and its address. */
export interface Peer {
  readonly name: string
  readonly incarnation: string
  /** `host:port`. */
  readonly address: string
}

/** A place in a sender's audio. */
export interface AudioPlace {
  /** Number of the frame on this socket, from 1. */
  readonly frame: number
  /** Number of samples since the start of the session. */
  readonly sample: number
}

/** A signal of `application/pipeline/signals.ts` as plain data. */
export type RelayedData = Readonly<Record<string, unknown>>

/** From the process with the sockets to the worker. */
export type ToWorker =
  /** The first message. `relay`: version of the messages. `listens`: true when the worker should send signals. */
  | { readonly kind: 'hello'; readonly relay: number; readonly term: number; readonly listens: boolean }
  /** Begins or ends the delivery of signals. */
  | { readonly kind: 'listen'; readonly listens: boolean }
  /**
   * A sender wants to connect. `from`: after a broken link, the place at which its next frame begins. Null for a new
   * socket.
   */
  | {
      readonly kind: 'sender'
      readonly requestId: string
      readonly from: AudioPlace | null
    }
  /**
   * A frame of the connected sender. Both ends count text and binary frames in order, from `from.frame` or 1. Text
   * `null` is a ping of the WebSocket protocol and is not counted.
   */
  | { readonly kind: 'text'; readonly text: string | null }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }
  /** The socket of this sender was closed. `how`: the way in which its handshake or socket ended. */
  | { readonly kind: 'gone'; readonly requestId: string; readonly how: 'clean' | 'broken' | 'abandoned' }

/** Why a sender may not connect. */
export type SenderRefusal = 'already_connected' | 'over' | 'unavailable'

/** From the worker to the process with the sockets. */
export type FromWorker =
  /** The answer to `hello`: this process runs the session in this term. */
  | { readonly kind: 'here'; readonly term: number; readonly status: LiveStatus }
  /** This process does not run the session, and closes the link. It names the worker and the term that it knows. */
  | { readonly kind: 'elsewhere'; readonly worker: string | null; readonly term: number | null }
  /**
   * Sent after `here` or `listen`, before the signals: the newest final segments that were sent to listeners, in order.
   * `isWhole`: the list contains the first segment of the session. `dropped`: keys of segments that were never stored.
   */
  | {
      readonly kind: 'recent'
      readonly finals: ReadonlyArray<RelayedData>
      readonly isWhole: boolean
      readonly dropped: ReadonlyArray<string>
    }
  /** A LiveSignal of the session, including its end. */
  | { readonly kind: 'signal'; readonly signal: RelayedData }
  | { readonly kind: 'admitted'; readonly requestId: string }
  | { readonly kind: 'refused'; readonly requestId: string; readonly why: SenderRefusal }
  /** A frame for the sender only. */
  | { readonly kind: 'reply'; readonly frame: string }
  /** Close the socket of the sender, after this last frame. */
  | { readonly kind: 'close'; readonly frame: string; readonly close: number; readonly reason: string }
  /** Stop reading the sender's socket (`on`), or read it again. */
  | { readonly kind: 'hold'; readonly on: boolean }
  /** The worker has processed all frames up to this place. Sent every second during audio, and before each `reply`. */
  | ({ readonly kind: 'heard' } & AudioPlace)
  /** All audio up to this place is in stored final segments or was silence. It is never needed again. */
  | ({ readonly kind: 'covered' } & AudioPlace)

export interface LiveLink {
  readonly send: (message: ToWorker) => void
  /** Bytes that are not sent yet. */
  readonly buffered: () => number
  /** Closes the link after the buffered messages are sent. */
  readonly close: () => void
}

export interface LinkEvents {
  readonly message: (message: FromWorker) => void
  /** Called once, also when the link never opened. No message follows. `why`: for people. */
  readonly closed: (why: string) => void
}

/** The other process does not answer, has another incarnation, or has another key. */
export interface Unreachable {
  readonly _tag: 'Unreachable'
  readonly reason: string
}

/** A request to end a session. `end`: an EndRequest of `application/lives/ending.ts`, as plain data. */
export interface EndMessage {
  readonly liveId: number
  readonly end: RelayedData
}

/** Connects this process to workers in other processes. */
export interface LiveLinks {
  /** Starts to connect. Messages that are sent before the link is open wait until it is open. */
  readonly open: (to: Peer, liveId: number, events: LinkEvents) => LiveLink
  /**
   * Requests the end of a session. Returns the peer's `Ended` as plain data, or null when the peer does not run the
   * session. Left: no answer within `limitMs`.
   */
  readonly end: (to: Peer, message: EndMessage, limitMs: number) => Promise<Either<Unreachable, RelayedData | null>>
  readonly close: () => Promise<void>
}

/** The worker's side of a link. */
export interface WorkerLink {
  readonly send: (message: FromWorker) => void
  readonly buffered: () => number
  readonly close: () => void
}

/** Handles the links that other processes open to this worker. */
export interface LinkHandler {
  /** Returns the receiver of the link's messages. */
  readonly open: (liveId: number, link: WorkerLink) => {
    readonly message: (message: ToWorker) => void
    /** Called when either side closed the link or it broke. No message follows. */
    readonly closed: () => void
  }
  readonly end: (message: EndMessage) => Promise<RelayedData | null>
}
