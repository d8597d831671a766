import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Superseded, Unavailable } from '../../errors.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import type { Position } from '../../ports/event-store.ts'
import type { Projector } from '../../ports/projector.ts'
import { endInTerm } from '../end-and-release.ts'
import type { LiveWriteDeps } from '../release-live.ts'

/** The end that a worker gives a live in its term. */
export interface OwnEnd {
  readonly term: number
  readonly cause: EndCause
  /** Of who asked for it; null where nobody did. */
  readonly origin: Origin | null
}

/**
 * Terminal event, then Released, then the answer; nothing to do when it is terminal already. Answers the position of the
 * terminal event when it was this end that made it, else null.
 */
export type EndLive = (liveId: number, end: OwnEnd) => TaskEither<Superseded | Unavailable, Position | null>

export interface EndLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

export const endLive =
  (deps: EndLiveDeps): EndLive =>
  (liveId, { term, cause, origin }) =>
  async () => {
    const ended = await endInTerm(deps)(liveId, { term, cause, origin: origin ?? ownOrigin(deps) })()
    if (E.isRight(ended) && ended.right !== null) await deps.whenProjected(ended.right)
    return ended
  }
