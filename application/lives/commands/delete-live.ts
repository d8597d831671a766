import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import { liveNotFound } from '../../errors.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { originOf } from '../../log/origin.ts'
import { SESSION_LISTS } from '../../ports/projector.ts'
import type { Projector } from '../../ports/projector.ts'
import { isOwned, loadLive } from '../load-live.ts'
import type { LiveWriteDeps } from '../release-live.ts'
import { removeLive } from '../remove-live.ts'

/** Deletes a session of the caller permanently: its text, URL and tokens can never be read again. */
export type DeleteLive = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, void>>

export interface DeleteLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

/**
 * If a crash interrupts the deletion, `reconcile-lives.ts` later releases the reservation, and `erase-deleted-lives.ts`
 * erases the keys.
 */
export const deleteLive =
  (deps: DeleteLiveDeps): DeleteLive =>
  (caller, liveId) =>
    pipe(
      () => loadLive(deps, liveId),
      TE.filterOrElseW(({ state }) => isOwned(state, caller.userId), () => liveNotFound),
      TE.chainW(() => () => removeLive(deps, liveId, originOf(deps, actorOf(caller)))),
      // Null: another call deleted the session first.
      TE.chainW(TE.fromNullable(liveNotFound)),
      TE.chainTaskK((position) => () => deps.whenProjected(SESSION_LISTS, position)),
    )()
