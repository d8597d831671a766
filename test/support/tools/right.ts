import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

/** Returns the right value; throws when the result is a left. */
export const right = <A>(result: E.Either<unknown, A>): A => {
  if (E.isLeft(result)) throw new Error(`unexpected left: ${JSON.stringify(result.left)}`)
  return result.right
}

/** Runs a task and returns its right value; rejects when the result is a left. */
export const rightOf = async <A>(task: TaskEither<unknown, A>): Promise<A> => right(await task())
