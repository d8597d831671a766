import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { isOpen } from '../../domain/live/state.ts'
import type { Live, LiveState } from '../../domain/live/state.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import { liveNotFound } from '../errors.ts'
import type { LiveNotFound, Unavailable } from '../errors.ts'
import { originOf } from '../log/origin.ts'
import { SESSION_LISTS } from '../ports/projector.ts'
import type { Projector } from '../ports/projector.ts'
import type { LiveView } from '../ports/read-models.ts'
import { viewOf } from './queries/live-view.ts'
import { loadLive } from './load-live.ts'
import { requestEnd } from './request-end.ts'
import type { RequestEndDeps } from './request-end.ts'

export interface FinishDeps extends RequestEndDeps, Pick<Projector, 'whenProjected'> {}

/** The cause of an end that was requested through the REST interface. */
export const FINISHED_BY_REQUEST = { status: 'finished', reason: 'finish_route' } as const

/**
 * Finishes a session that `isAllowed` accepts, after its last audio is transcribed and its reservation is released.
 * Returns an ended session unchanged.
 */
export const finishIfAllowed =
  (deps: FinishDeps) =>
  async (
    caller: Caller,
    liveId: number,
    isAllowed: (state: LiveState) => state is Live,
  ): Promise<Either<LiveNotFound | Unavailable, LiveView>> => {
    const allowedLive = async (): Promise<Either<LiveNotFound | Unavailable, Live>> => {
      const loaded = await loadLive(deps, liveId)
      if (E.isLeft(loaded)) return loaded
      const { state } = loaded.right
      return isAllowed(state) ? E.right(state) : E.left(liveNotFound)
    }
    const live = await allowedLive()
    if (E.isLeft(live) || !isOpen(live.right)) return E.map(viewOf)(live)
    const ended = await requestEnd(deps)(liveId, FINISHED_BY_REQUEST, originOf(deps, actorOf(caller)))
    if (E.isLeft(ended)) return ended
    if (ended.right !== null) await deps.whenProjected(SESSION_LISTS, ended.right)
    // Loads again after the end: the session may have been deleted in the meantime.
    return E.map(viewOf)(await allowedLive())
  }
