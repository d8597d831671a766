import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { traverseAtOnce } from '../../at-once.ts'
import { endLive } from './end-live.ts'
import type { EndLiveDeps } from './end-live.ts'
import type { Origin } from '../../log/origin.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'

const ENDS_AT_ONCE = 16

/**
 * Ends every open live of a user who was disabled. The first failure is the answer; repeating it does the rest. One
 * that cannot be read keeps no other open, and is the answer once they are ended.
 */
export const createEndLivesOf =
  (deps: EndLiveDeps) =>
  async (userId: number, origin: Origin): Promise<Either<Unavailable, void>> => {
    // Every open live has a reservation.
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission)) return admission
    const lives = admission.right.open.filter((reservation) => reservation.userId === userId)
    type Ended = Either<Unavailable, Unavailable | null>
    const ended = await traverseAtOnce(ENDS_AT_ONCE, lives, async ({ liveId }): Promise<Ended> => {
      const outcome = await endLive(deps, liveId, { status: 'finished', reason: 'owner_disabled' }, origin)()
      if (E.isRight(outcome)) return E.right(null)
      return isHurt(outcome.left) ? E.right(outcome.left) : outcome
    })
    if (E.isLeft(ended)) return ended
    const hurt = ended.right.find((why) => why !== null)
    return hurt ? E.left(hurt) : E.right(undefined)
  }
