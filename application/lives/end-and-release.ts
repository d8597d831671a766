import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveCommand } from '../../domain/live/commands.ts'
import { liveDecider } from '../../domain/live/decider.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { Superseded, Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { unexpected } from '../log/unexpected.ts'
import type { EndCause } from '../pipeline/signals.ts'
import type { Position } from '../ports/event-store.ts'
import { releaseLive } from './release-live.ts'
import type { LiveWriteDeps } from './release-live.ts'

/** An end of a session. `term`: leadership term of the worker that ends it. Null when the worker does not end it. */
export interface Ending {
  readonly cause: EndCause
  readonly term: number | null
  readonly origin: Origin
}

const commandOf = ({ cause, term }: Ending, at: string): LiveCommand =>
  cause.status === 'finished'
    ? { type: 'FinishLive', reason: cause.reason, term, at }
    : { type: 'FailLive', code: cause.code, detail: cause.detail, term, at }

/**
 * Appends the end (LiveFinished or LiveFailed), then releases the reservation. A repeated call appends nothing, but
 * releases a reservation that an earlier call could not release. Returns the position of the end when this call ended
 * the session, otherwise null. Left `Superseded`: another worker runs the session in a later term.
 */
export const endInTerm =
  (deps: LiveWriteDeps) =>
  async (liveId: number, ending: Ending): Promise<Either<Superseded | Unavailable, Position | null>> => {
    const { origin } = ending
    const stream = liveStream(liveId)
    const command = commandOf(ending, deps.environment.now())
    const ended = await handleCommand(deps)({ ...origin, stream, decider: liveDecider, command })
    if (E.isLeft(ended)) {
      switch (ended.left._tag) {
        case 'LiveUnknown':
          return E.right(null)
        case 'AlreadyCreated':
        case 'LiveOver':
          throw unexpected(stream, ended.left)
        default:
          return E.left(ended.left)
      }
    }
    const released = await releaseLive(deps, liveId, origin)
    return E.isLeft(released) ? released : E.right(ended.right.position)
  }

/** Ends a session like `endInTerm`, but without a term, so the end is never refused as `Superseded`. */
export const endAndRelease = async (
  deps: LiveWriteDeps,
  liveId: number,
  cause: EndCause,
  origin: Origin,
): Promise<Either<Unavailable, Position | null>> => {
  const ended = await endInTerm(deps)(liveId, { cause, term: null, origin })
  if (E.isRight(ended)) return ended
  if (ended.left._tag === 'Superseded') throw unexpected(liveStream(liveId), ended.left)
  return E.left(ended.left)
}
