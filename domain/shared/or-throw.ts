import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'

/** Explains itself as a text, or by its `reason`, or at least by its tag. */
type Failure = string | { readonly _tag: string; readonly reason?: string }

const reasonOf = (failure: Failure): string =>
  typeof failure === 'string' ? failure : (failure.reason ?? failure._tag)

/**
 * Returns the right value. On a left value it throws an Error `context: reason` with the left value as its cause. Use
 * it when the caller handles every failure in one way: it retries, or shows the message.
 */
export const orThrow = <A>(result: Either<Failure, A>, context?: string): A => {
  if (E.isRight(result)) return result.right
  const reason = reasonOf(result.left)
  throw new Error(context === undefined ? reason : `${context}: ${reason}`, { cause: result.left })
}
