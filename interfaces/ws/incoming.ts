import type { Environment } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import type { Connection } from './connection.ts'

/** A socket's incoming side: what its role makes of each frame. */
export interface Incoming {
  readonly text: (text: string) => void
  readonly binary: (bytes: Uint8Array) => void
  /** A ping of the WebSocket protocol itself. */
  readonly ping: () => void
  /** The socket is gone; `clean`: not because the connection broke. */
  readonly closed: (clean: boolean) => void
}

export interface IncomingOptions {
  readonly connection: Connection
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  /** False switches the limits on frame rates off (D57). */
  readonly rateLimits: boolean
}
