import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { actorOf, type Caller } from '../../caller.ts'
import { type LiveNotFound, liveNotFound, type Unavailable } from '../../refusals.ts'
import { originOf } from '../../log/origin.ts'
import { type Projector, SESSION_LISTS } from '../../ports/projector.ts'
import { type LiveWriteDeps, removeLive } from '../ending.ts'
import { isOwned, loadLive } from '../load-live.ts'

/** Deletes a session of the caller permanently: its text, URL and tokens can never be read again. */
export type DeleteLive = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, void>>

export interface DeleteLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

/**
 * If a crash interrupts the deletion, `reconcile-lives.ts` later releases the reservation, and `erase-deleted-lives.ts`
 * erases the keys.
 */
export const deleteLive =
  (deps: DeleteLiveDeps): DeleteLive =>
  async (caller, liveId) => {
    const loaded = await loadLive(deps, liveId)
    if (E.isLeft(loaded)) return loaded
    if (!isOwned(loaded.right.state, caller.userId)) return E.left(liveNotFound)
    const removed = await removeLive(deps, liveId, originOf(deps, actorOf(caller)))
    if (E.isLeft(removed)) return removed
    // Another call deleted the session first.
    if (removed.right === null) return E.left(liveNotFound)
    return E.right(await deps.whenProjected(SESSION_LISTS, removed.right))
  }
