import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'

/** Says why in its words, in its reason, or, where nobody knows more, in its tag. */
type Failure = string | { readonly _tag: string; readonly reason?: string }

const reasonOf = (failure: Failure): string => (typeof failure === 'string' ? failure : (failure.reason ?? failure._tag))

/**
 * The value; else throws an Error that says why there is none, behind `what` where that is given, and has the failure as
 * its cause. For steps whose caller has one answer to every failure: it tries again, or tells people.
 */
export const orThrow = <A>(result: Either<Failure, A>, what?: string): A => {
  if (E.isRight(result)) return result.right
  const reason = reasonOf(result.left)
  throw new Error(what === undefined ? reason : `${what}: ${reason}`, { cause: result.left })
}
