import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
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
  (
    caller: Caller,
    liveId: number,
    isAllowed: (state: LiveState) => state is Live,
  ): Promise<Either<LiveNotFound | Unavailable, LiveView>> => {
    const allowedLive = pipe(
      () => loadLive(deps, liveId),
      TE.chainW(({ state }) => (isAllowed(state) ? TE.right(state) : TE.left(liveNotFound))),
    )
    const finish = () => pipe(
      () => requestEnd(deps)(liveId, FINISHED_BY_REQUEST, originOf(deps, actorOf(caller))),
      TE.chainFirstTaskK((position) => async () => {
        if (position !== null) await deps.whenProjected(SESSION_LISTS, position)
      }),
    )()
    return pipe(
      allowedLive,
      // Loads again after the end: the session may have been deleted in the meantime.
      TE.chainW((live) => (isOpen(live) ? pipe(() => finish(), TE.chainW(() => allowedLive)) : TE.right(live))),
      TE.map(viewOf),
    )()
  }
