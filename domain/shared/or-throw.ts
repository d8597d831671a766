import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'

/** A left value: the message itself, or an object. The message of an object is its `reason`, or else its tag. */
type Failure = string | { readonly _tag: string; readonly reason?: string }

const reasonOf = (failure: Failure): string =>
  typeof failure === 'string' ? failure : (failure.reason ?? failure._tag)

/**
 * Returns the right value. For a left value it throws an Error with the message `context: reason` and the left value as
 * its cause. Use it when the caller handles all failures in one way: it retries, or shows the message.
 */
export const orThrow = <A>(result: Either<Failure, A>, context?: string): A => {
  if (E.isRight(result)) return result.right
  const reason = reasonOf(result.left)
  throw new Error(context === undefined ? reason : `${context}: ${reason}`, { cause: result.left })
}
