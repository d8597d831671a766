import type { Environment } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import type { Connection } from './connection.ts'

/** Handles the incoming frames of a socket, according to its role. */
export interface Incoming {
  readonly text: (text: string) => void
  readonly binary: (bytes: Uint8Array) => void
  /** A ping of the WebSocket protocol itself. */
  readonly ping: () => void
  /** The socket is closed. `isClean`: with a close frame or a protocol error, not by a broken connection. */
  readonly closed: (isClean: boolean) => void
}

export interface IncomingOptions {
  readonly connection: Connection
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  /** False switches the limits on frame rates off. */
  readonly rateLimits: boolean
}
