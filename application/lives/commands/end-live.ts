import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../../errors.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import type { Projector } from '../../ports/projector.ts'
import { endAndRelease } from '../end-and-release.ts'
import type { LiveWriteDeps } from '../release-live.ts'

/** Terminal event, then Released, then the answer; nothing to do when it is terminal already. */
export type EndLive = (liveId: number, cause: EndCause) => TaskEither<Unavailable, void>

export interface EndLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

/** The end that this process itself gives a live that it runs. */
export const endLive =
  (deps: EndLiveDeps): EndLive =>
  (liveId, cause) =>
  async () => {
    const ended = await endAndRelease(deps, liveId, cause, ownOrigin(deps))()
    if (E.isLeft(ended)) return ended
    if (ended.right !== null) await deps.whenProjected(ended.right)
    return E.right(undefined)
  }
