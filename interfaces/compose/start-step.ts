import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { isUnreadable } from '../../application/refusals.ts'
import { pause } from '../../application/waiting.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { systemTimers } from '../../infrastructure/process/system-timers.ts'

/** Pauses between attempts, about ten seconds in all. A busy store answers within this time. */
const WAITS_MS = [100, 200, 400, 800, 1600, 3200, 3200]

const isUnavailable = (tag: string): boolean => tag.endsWith('Unavailable')

/**
 * Runs a repeatable step of the start. It is retried while a store is unavailable. Any other failure throws an Error
 * with the name of the step, so the service does not start.
 */
export const runStartStep = async <L extends { readonly _tag: string }, A>(
  step: string,
  task: () => Promise<Either<L, A>>,
  timers: Timers = systemTimers,
): Promise<A> => {
  let done = await task()
  for (const wait of WAITS_MS) {
    if (E.isRight(done) || !isUnavailable(done.left._tag)) break
    await pause(timers, wait)
    done = await task()
  }
  if (E.isRight(done)) return done.right
  throw new Error(`could not ${step}: ${'reason' in done.left ? String(done.left.reason) : done.left._tag}`)
}

/** Returns the failure of a store that caused `error`. */
const failureOf = (error: unknown): { readonly _tag: string; readonly reason: string } => {
  const cause = error instanceof Error ? error.cause : null
  const tag = typeof cause === 'object' && cause !== null && '_tag' in cause ? String(cause._tag) : 'Failed'
  return { _tag: tag, reason: error instanceof Error ? error.message : String(error) }
}

/** Like `runStartStep`, for work that rejects with the failure of a store as its cause. */
export const runStartWork = <A>(step: string, work: () => Promise<A>, timers: Timers = systemTimers): Promise<A> =>
  runStartStep(step, async () => work().then(E.right, (error: unknown) => E.left(failureOf(error))), timers)

/** Like `runStartStep`, but continues after damaged data, which is reported elsewhere. Other data still works. */
export const runStartStepUnlessDamaged = async <L extends { readonly _tag: string }>(
  step: string,
  task: () => Promise<Either<L, unknown>>,
): Promise<void> => {
  await runStartStep(step, async () => {
    const done = await task()
    return E.isLeft(done) && isUnreadable(done.left) ? E.right(undefined) : done
  })
}
