import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { MongoInvalidArgumentError, MongoServerError } from 'mongodb'
import { messageOf } from '../../domain/shared/message-of.ts'

/**
 * Error codes of requests that the server always refuses, because they contain a mistake of ours.
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

/** Settles like `work`, or resolves with TOO_LATE at the limit. */
const withLimit = async <A>(limitMs: number, work: Promise<A>): Promise<A | typeof TOO_LATE> => {
  const limit = Promise.withResolvers<typeof TOO_LATE>()
  const timer = setTimeout(() => limit.resolve(TOO_LATE), limitMs)
  try {
    return await Promise.race([work, limit.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The time limit of an operation of several requests. */
export interface Limit {
  /** Option of a read: the server cancels it after this time. */
  readonly maxTimeMS: number
  /** Throws after the limit. Call it before each further request, because the caller has stopped waiting. */
  readonly check: () => void
}

/**
 * Runs requests and returns their outcome. Left: why they failed or why their outcome is unknown. This includes plain
 * Errors of the socket, because operations can end with such an Error when the server dies. Rejects only on defects,
 * such as an invalid request.
 */
export const outcomeOf = async <A>(
  limitMs: number, requests: (limit: Limit) => Promise<A>,
): Promise<Either<string, A>> => {
  const deadline = performance.now() + limitMs
  const check = (): void => {
    if (performance.now() > deadline) throw new Error(`the limit of ${limitMs} ms is reached`)
  }
  try {
    const outcome = await withLimit(limitMs, requests({ maxTimeMS: limitMs, check }))
    return outcome === TOO_LATE ? E.left(`no answer from MongoDB within ${limitMs} ms`) : E.right(outcome)
  } catch (error) {
    if (isDefect(error)) throw error
    return E.left(messageOf(error))
  }
}
