import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { traverseAtOnce } from '../../at-once.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import type { Origin } from '../../log/origin.ts'
import { endAndRelease } from '../end-and-release.ts'
import type { LiveWriteDeps } from '../release-live.ts'

/**
 * Ends every open live of a user who was disabled. The first failure is the answer; repeating it does the rest. One
 * that cannot be read keeps no other open, and is the answer once they are ended.
 */
export type EndLivesOf = (userId: number, origin: Origin) => Promise<Either<Unavailable, void>>

const ENDS_AT_ONCE = 16

export const endLivesOf =
  (deps: LiveWriteDeps): EndLivesOf =>
  async (userId, origin) => {
    // Every open live has a reservation.
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission)) return admission
    const lives = admission.right.open.filter((reservation) => reservation.userId === userId)
    type Ended = Either<Unavailable, Unavailable | null>
    const ended = await traverseAtOnce(ENDS_AT_ONCE, lives, async ({ liveId }): Promise<Ended> => {
      const cause = { status: 'finished', reason: 'owner_disabled' } as const
      const outcome = await endAndRelease(deps, liveId, cause, origin)()
      if (E.isRight(outcome)) return E.right(null)
      return isHurt(outcome.left) ? E.right(outcome.left) : outcome
    })
    if (E.isLeft(ended)) return ended
    const hurt = ended.right.find((why) => why !== null)
    return hurt ? E.left(hurt) : E.right(undefined)
  }
