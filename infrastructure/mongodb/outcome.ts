import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { MongoInvalidArgumentError, MongoServerError } from 'mongodb'
import { messageOf } from '../../domain/shared/message-of.ts'

/**
 * Error codes of requests that the server will never take: mistakes of ours, not of its state.
 * https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml
 */
const DEFECTS: ReadonlySet<unknown> = new Set([
  2, // BadValue
  9, // FailedToParse
  14, // TypeMismatch
  40, // ConflictingUpdateOperators
  52, // DollarPrefixedFieldName
  59, // CommandNotFound
  66, // ImmutableField
  72, // InvalidOptions
  73, // InvalidNamespace
  40415, // an unknown field
])

const isDefect = (error: unknown): boolean =>
  error instanceof MongoInvalidArgumentError || (error instanceof MongoServerError && DEFECTS.has(error.code))

const TOO_LATE = Symbol('the limit is reached')

/** Settles with `work`, or with TOO_LATE at the limit. */
const within = async <A>(limitMs: number, work: Promise<A>): Promise<A | typeof TOO_LATE> => {
  const limit = Promise.withResolvers<typeof TOO_LATE>()
  const timer = setTimeout(() => limit.resolve(TOO_LATE), limitMs)
  try {
    return await Promise.race([work, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The limit of requests that somebody waits for. */
export interface Limit {
  /** Option of a read: when the server gives it up. */
  readonly maxTimeMS: number
  /** Throws once nobody waits any more: no further request is made then. */
  readonly check: () => void
}

/**
 * The outcome of requests to the server. Left: why they failed, or may have. By cause, not by class: an operation that
 * was in flight when the server died can end in a plain Error of the socket. Rejects on mistakes of ours alone.
 */
export const outcomeOf = async <A>(
  limitMs: number, requests: (limit: Limit) => Promise<A>,
): Promise<Either<string, A>> => {
  const end = performance.now() + limitMs
  const check = (): void => {
    if (performance.now() > end) throw new Error(`the limit of ${limitMs} ms is reached`)
  }
  try {
    const outcome = await within(limitMs, requests({ maxTimeMS: limitMs, check }))
    return outcome === TOO_LATE ? E.left(`no answer from MongoDB within ${limitMs} ms`) : E.right(outcome)
  } catch (error) {
    if (isDefect(error)) throw error
    return E.left(messageOf(error))
  }
}
