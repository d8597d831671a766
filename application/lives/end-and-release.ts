import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveDecider } from '../../domain/live/decider.ts'
import type { LiveCommand } from '../../domain/live/decider.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { unexpected } from '../log/unexpected.ts'
import type { EndCause } from '../pipeline/signals.ts'
import type { Position } from '../ports/event-store.ts'
import { releaseLive } from './release-live.ts'
import type { LiveWriteDeps } from './release-live.ts'

/**
 * Terminal event, then Released. Repeating it changes nothing, and gives back what an earlier one could not.
 * Answers the position of the terminal event when it was this call that ended the live, else null.
 */
export const endAndRelease = (
  deps: LiveWriteDeps,
  liveId: number,
  cause: EndCause,
  origin: Origin,
): TaskEither<Unavailable, Position | null> => async () => {
  const stream = liveStream(liveId)
  const at = deps.environment.now()
  const command: LiveCommand = cause.status === 'finished'
    ? { type: 'FinishLive', reason: cause.reason, at }
    : { type: 'FailLive', code: cause.code, detail: cause.detail, at }
  const ended = await handleCommand(deps)({ ...origin, stream, decider: liveDecider, command })()
  if (E.isLeft(ended)) {
    switch (ended.left._tag) {
      case 'LiveUnknown':
        return E.right(null)
      case 'AlreadyCreated':
      case 'LiveOver':
      case 'SenderAlreadyConnected':
        throw unexpected(stream, ended.left)
      default:
        return E.left(ended.left)
    }
  }
  const released = await releaseLive(deps, liveId, origin)()
  return E.isLeft(released) ? released : E.right(ended.right.position)
}
