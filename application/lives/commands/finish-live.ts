import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists, isOpen, type Live, type LiveState } from '../../../domain/live/state.ts'
import { actorOf, type Caller } from '../../caller.ts'
import { type LiveNotFound, liveNotFound, type Unavailable } from '../../refusals.ts'
import { originOf } from '../../log/origin.ts'
import { type Projector, SESSION_LISTS } from '../../ports/projector.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { type AdminLive, type AdminLiveDeps, toAdminLive } from '../admin-live.ts'
import { type EndDeps, requestEnd } from '../ending.ts'
import { isOwned, loadLive } from '../load-live.ts'
import { viewOf } from '../queries/live-view.ts'

/** Ends a session of the caller, after its last audio is transcribed. Returns an ended session unchanged. */
export type FinishLive = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, LiveView>>

/** For administrators: the same for the session of any owner. */
export type FinishAnyLive = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, AdminLive>>

export interface FinishDeps extends EndDeps, Pick<Projector, 'whenProjected'> {}

/** The cause of an end that was requested through the REST interface. */
export const FINISHED_BY_REQUEST = { status: 'finished', reason: 'finish_route' } as const

/** Finishes a session that `isAllowed` accepts, after its last audio is transcribed and its reservation is released. */
const finish = async (
  deps: FinishDeps,
  caller: Caller,
  liveId: number,
  isAllowed: (state: LiveState) => state is Live,
): Promise<Either<LiveNotFound | Unavailable, LiveView>> => {
  const allowed = async (): Promise<Either<LiveNotFound | Unavailable, Live>> => {
    const loaded = await loadLive(deps, liveId)
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    return isAllowed(state) ? E.right(state) : E.left(liveNotFound)
  }
  const live = await allowed()
  if (E.isLeft(live) || !isOpen(live.right)) return E.map(viewOf)(live)
  const ended = await requestEnd(deps, liveId, FINISHED_BY_REQUEST, originOf(deps, actorOf(caller)))
  if (E.isLeft(ended)) return ended
  if (ended.right !== null) await deps.whenProjected(SESSION_LISTS, ended.right)
  // Loads again after the end: the session may have been deleted in the meantime.
  return E.map(viewOf)(await allowed())
}

export const finishLive =
  (deps: FinishDeps): FinishLive =>
  (caller, liveId) =>
    finish(deps, caller, liveId, (state): state is Live => isOwned(state, caller.userId))

export const finishAnyLive =
  (deps: FinishDeps & AdminLiveDeps): FinishAnyLive =>
  async (caller, liveId) => {
    const finished = await finish(deps, caller, liveId, exists)
    return E.isLeft(finished) ? finished : await toAdminLive(deps)(finished.right)
  }
