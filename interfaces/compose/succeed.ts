import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { isHurt } from '../../application/errors.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'

/** Milliseconds between attempts: about ten seconds in all, in which a store that is merely busy answers. */
const WAITS = [100, 200, 400, 800, 1600, 3200, 3200]

const isUnavailable = (tag: string): boolean => tag.endsWith('Unavailable')

/**
 * Runs a step of the start, which may be repeated. A store that does not answer is asked again for a while; any other
 * failure throws an Error that names the step: a service that cannot begin must not look as if it had.
 */
export const succeed = async <L extends { readonly _tag: string }, A>(
  step: string,
  task: TaskEither<L, A>,
  timers: Timers = systemTimers,
): Promise<A> => {
  let done = await task()
  for (const wait of WAITS) {
    if (E.isRight(done) || !isUnavailable(done.left._tag)) break
    await pause(timers, wait)
    done = await task()
  }
  if (E.isRight(done)) return done.right
  throw new Error(`${step}: ${'reason' in done.left ? String(done.left.reason) : done.left._tag}`)
}

/** What a store said, where that is why `error` was thrown. */
const failureOf = (error: unknown): { readonly _tag: string; readonly reason: string } => {
  const cause = error instanceof Error ? error.cause : null
  const tag = typeof cause === 'object' && cause !== null && '_tag' in cause ? String(cause._tag) : 'Failed'
  return { _tag: tag, reason: error instanceof Error ? error.message : String(error) }
}

/** As `succeed`, for work that rejects, with what a store said as its cause. */
export const succeedAt = <A>(step: string, work: () => Promise<A>, timers: Timers = systemTimers): Promise<A> =>
  succeed(step, TE.tryCatch(work, failureOf), timers)

/** As `succeed`, but for stored data that cannot be read: that stops only what needs it, and is told already. */
export const succeedUnlessHurt = async <L extends { readonly _tag: string }>(
  step: string,
  task: TaskEither<L, unknown>,
): Promise<void> => {
  const passing = TE.orElse((failure: L): TaskEither<L, unknown> =>
    isHurt(failure) ? TE.right(undefined) : TE.left(failure),
  )
  await succeed(step, passing(task))
}
