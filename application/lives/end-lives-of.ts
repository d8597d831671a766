import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { endLive } from './end-live.ts'
import type { EndLiveDeps, Origin } from './end-live.ts'
import type { Unavailable } from '../errors.ts'

/** Ends every open live of a user who was disabled (A4). The first failure is the answer; repeating it does the rest. */
export const createEndLivesOf =
  (deps: EndLiveDeps) =>
  async (userId: number, origin: Origin): Promise<Either<Unavailable, void>> => {
    // Every open live has a reservation.
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission)) return admission
    for (const { liveId } of admission.right.open.filter((reservation) => reservation.userId === userId)) {
      const ended = await endLive(deps, liveId, { status: 'finished', reason: 'owner_disabled' }, origin)()
      if (E.isLeft(ended)) return ended
    }
    return E.right(undefined)
  }
