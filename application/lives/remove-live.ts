import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { liveDecider } from '../../domain/live/decider.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { unexpected } from '../log/unexpected.ts'
import type { Position } from '../ports/event-store.ts'
import { eraseLive } from './erase-live.ts'
import { releaseLive } from './release-live.ts'
import type { LiveWriteDeps } from './release-live.ts'

/**
 * Appends LiveDeleted (for a running session together with LiveFinished), releases the reservation and erases the keys.
 * May be repeated. Returns the position of LiveDeleted when this call appended it, otherwise null.
 */
export const removeLive =
  async (deps: LiveWriteDeps, liveId: number, origin: Origin): Promise<Either<Unavailable, Position | null>> => {
    const stream = liveStream(liveId)
    const command = { type: 'DeleteLive', at: deps.environment.now() } as const
    const deleted = await handleCommand(deps)({ ...origin, stream, decider: liveDecider, command })
    if (E.isLeft(deleted)) {
      switch (deleted.left._tag) {
        case 'LiveUnknown':
          return E.right(null)
        case 'LiveOver':
        case 'AlreadyCreated':
        case 'Superseded':
          throw unexpected(stream, deleted.left)
        default:
          return E.left(deleted.left)
      }
    }
    const released = await releaseLive(deps, liveId, origin)
    if (E.isLeft(released)) return released
    const erased = await eraseLive(deps, liveId)
    return E.isLeft(erased) ? erased : E.right(deleted.right.position)
  }
