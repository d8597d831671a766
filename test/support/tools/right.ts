import * as E from 'fp-ts/lib/Either.js'

/** Returns the right value; throws when the result is a left. */
export const right = <A>(result: E.Either<unknown, A>): A => {
  if (E.isLeft(result)) throw new Error(`unexpected left: ${JSON.stringify(result.left)}`)
  return result.right
}

/** Runs a task and returns its right value; rejects when the result is a left. */
export const rightOf = async <A>(result: Promise<E.Either<unknown, A>>): Promise<A> => right(await result)
