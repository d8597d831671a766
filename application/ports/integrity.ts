import type { Either } from 'fp-ts/lib/Either.js'
import type { Revision, StoreUnavailable } from './event-store.ts'

/** Damage of one event. Null revision: damage of the whole stream. */
interface Damage {
  readonly revision: Revision | null
  readonly reason: string
}

/** Result of checking the rows of a stream and their hash chain. */
export interface StreamIntegrity {
  readonly rows: number
  /** Positions of the first and the last row in the log. */
  readonly first: number | null
  readonly last: number | null
  /** Hash of the last row, hexadecimal. */
  readonly headHash: string | null
  readonly damages: ReadonlyArray<Damage>
}

/** Checks the stored rows of a stream. Returns null when the store keeps no hashes. */
export type VerifyStream = (stream: string) => Promise<Either<StoreUnavailable, StreamIntegrity | null>>

/** A stream whose first events are not read any more, or which has a limit that hides them later. */
export interface ShortenedStream {
  readonly name: string
  /** Whether a number or an age of events limits the stream. */
  readonly hasLimit: boolean
}
