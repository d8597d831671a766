import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { originOf } from '../../log/origin.ts'
import type { Projector } from '../../ports/projector.ts'
import { isOwned, loadLive } from '../load-live.ts'
import type { LiveWriteDeps } from '../release-live.ts'
import { removeLive } from '../remove-live.ts'

/** For good: its text, URL and tokens can never be read again. */
export type DeleteLive = (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, void>

export interface DeleteLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

/** After a crash `reconcile-lives.ts` does the release and `erase-deleted-lives.ts` the keys. */
export const deleteLive =
  (deps: DeleteLiveDeps): DeleteLive =>
  (caller, liveId) =>
  async () => {
    const before = await loadLive(deps, liveId)()
    if (E.isLeft(before)) return before
    if (!isOwned(before.right.state, caller.userId)) return E.left({ _tag: 'LiveNotFound' })

    const removed = await removeLive(deps, liveId, originOf(deps, actorOf(caller)))()
    if (E.isLeft(removed)) return removed
    const position = removed.right
    // Another call was faster.
    if (position === null) return E.left({ _tag: 'LiveNotFound' })
    await deps.whenProjected(position)
    return E.right(undefined)
  }
