import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Live, LiveState } from '../../domain/live/decider.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { LiveNotFound, Unavailable } from '../errors.ts'
import { originOf } from '../log/origin.ts'
import type { Projector } from '../ports/projector.ts'
import type { LiveView, ViewOf } from '../ports/read-models.ts'
import { askForEnd } from './ask-for-end.ts'
import type { AskForEndDeps } from './ask-for-end.ts'
import { isOpen, loadLive } from './load-live.ts'

export interface FinishingDeps extends AskForEndDeps, Pick<Projector, 'whenProjected'> {
  readonly viewOf: ViewOf
}

/** Of all lives that somebody finishes by a route. */
export const FINISHED = { status: 'finished', reason: 'finish_route' } as const

/** Finishes a live that `isFor` the caller, after its last words. The answer comes after the release. */
export const finishing =
  (deps: FinishingDeps) =>
  (
    caller: Caller,
    liveId: number,
    isFor: (state: LiveState) => state is Live,
  ): TaskEither<LiveNotFound | Unavailable, LiveView> =>
  async () => {
    const before = await loadLive(deps, liveId)()
    if (E.isLeft(before)) return before
    if (!isFor(before.right.state)) return E.left({ _tag: 'LiveNotFound' })
    if (!isOpen(before.right.state)) return await deps.viewOf(before.right.stored)()

    const ended = await askForEnd(deps)(liveId, FINISHED, originOf(deps, actorOf(caller)))()
    if (E.isLeft(ended)) return ended
    if (ended.right !== null) await deps.whenProjected(ended.right)
    const after = await loadLive(deps, liveId)()
    if (E.isLeft(after)) return after
    // Deleted meanwhile.
    if (!isFor(after.right.state)) return E.left({ _tag: 'LiveNotFound' })
    return await deps.viewOf(after.right.stored)()
  }
