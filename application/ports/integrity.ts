import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Revision, StoreUnavailable } from './event-store.ts'

/** Where a stream is not what was written; of the stream as a whole without a revision. */
interface Damage {
  readonly revision: Revision | null
  readonly reason: string
}

/** What the rows of a stream, and their links to the rows around them, say about each other. */
export interface StreamIntegrity {
  readonly rows: number
  /** Places of the first and of the last row in the log. */
  readonly first: number | null
  readonly last: number | null
  /** Of the last row, in hexadecimal. */
  readonly headHash: string | null
  readonly damages: ReadonlyArray<Damage>
}

/** Reads the stored rows themselves; null where the store keeps nothing to judge them by. */
export type VerifyStream = (stream: string) => TaskEither<StoreUnavailable, StreamIntegrity | null>
