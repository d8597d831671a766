import * as E from 'fp-ts/lib/Either.js'
import type { Superseded, Unavailable } from '../../errors.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import type { Repeatable } from '../../log/origin.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import type { Position } from '../../ports/event-store.ts'
import { SESSION_LISTS } from '../../ports/projector.ts'
import type { Projector } from '../../ports/projector.ts'
import { endInTerm } from '../end-and-release.ts'
import type { LiveWriteDeps } from '../release-live.ts'

/** An end by the worker of the session. */
export interface EndOfTerm {
  /** Leadership term of the worker. */
  readonly term: number
  readonly cause: EndCause
  /** The request that caused the end. Null when the worker ends the session on its own. */
  readonly origin: Origin | null
}

/**
 * Appends the event that ends the session, then releases its reservation. Returns the position of the event, or null
 * when the session had already ended.
 */
export type EndLive = (liveId: number, end: EndOfTerm) => Repeatable<Superseded | Unavailable, Position | null>

export interface EndLiveDeps extends LiveWriteDeps, Pick<Projector, 'whenProjected'> {}

export const endLive =
  (deps: EndLiveDeps): EndLive =>
  (liveId, { origin, ...end }) => {
    const ending = { ...end, origin: origin ?? ownOrigin(deps) }
    return async () => {
      const ended = await endInTerm(deps)(liveId, ending)
      if (E.isRight(ended) && ended.right !== null) await deps.whenProjected(SESSION_LISTS, ended.right)
      return ended
    }
  }
