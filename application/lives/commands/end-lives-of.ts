import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ENDS_AT_ONCE, traverseConcurrently } from '../../concurrency.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import type { Origin } from '../../log/origin.ts'
import { endAndRelease, type LiveWriteDeps } from '../ending.ts'

/**
 * Ends every open session of a disabled user. Left: the first failure. A repeated call ends the remaining sessions. A
 * session whose data cannot be read does not stop the others. Its error is returned after the others have ended.
 */
export type EndLivesOf = (userId: number, origin: Origin) => Promise<Either<Unavailable, void>>

export const endLivesOf =
  (deps: LiveWriteDeps): EndLivesOf =>
  async (userId, origin) => {
    // Every open session has a reservation.
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission)) return admission
    const lives = admission.right.open.filter((reservation) => reservation.userId === userId)
    type Ended = Either<Unavailable, Unavailable | null>
    const ended = await traverseConcurrently(ENDS_AT_ONCE, lives, async ({ liveId }): Promise<Ended> => {
      const cause = { status: 'finished', reason: 'owner_disabled' } as const
      const outcome = await endAndRelease(deps, liveId, cause, origin)
      if (E.isRight(outcome)) return E.right(null)
      return isUnreadable(outcome.left) ? E.right(outcome.left) : outcome
    })
    if (E.isLeft(ended)) return ended
    const damaged = ended.right.find((error) => error !== null)
    return damaged ? E.left(damaged) : E.right(undefined)
  }
