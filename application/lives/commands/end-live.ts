import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { LiveCommand, LiveRefusal } from '../../../domain/live/decider.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { Origin } from '../../log/origin.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import type { Position } from '../../ports/event-store.ts'

export interface EndLiveDeps extends WriteDeps {
  readonly admission: AdmissionActor
}

/** A refusal that the rules give to none of the caller's commands. */
export const unexpected = (refusal: LiveRefusal, stream: string): Error => new Error(`${stream} refused with ${refusal._tag}`)

/**
 * Gives the megabytes and the place in the quota back. Only for a live whose stream is terminal or fenced: released
 * earlier, it could still run.
 */
export const releaseLive = (deps: EndLiveDeps, liveId: number, origin: Origin): TaskEither<Unavailable, void> => async () => {
  const released = await deps.admission.send({ ...origin, command: { type: 'Release', liveId, at: deps.environment.now() } })()
  if (E.isRight(released)) return E.right(undefined)
  if (released.left._tag === 'QuotaReached' || released.left._tag === 'InsufficientVram') {
    throw new Error(`release of live ${liveId} refused with ${released.left._tag}`)
  }
  return E.left(released.left)
}

/**
 * Terminal event, then Released. Repeating it changes nothing, and gives back what an earlier one could not.
 * Answers the position of the terminal event when it was this call that ended the live, else null.
 */
export const endLive = (
  deps: EndLiveDeps,
  liveId: number,
  cause: EndCause,
  origin: Origin,
): TaskEither<Unavailable, Position | null> => async () => {
  const at = deps.environment.now()
  const command: LiveCommand = cause.status === 'finished'
    ? { type: 'FinishLive', reason: cause.reason, at }
    : { type: 'FailLive', code: cause.code, detail: cause.detail, at }
  const ended = await handleCommand(deps)({ ...origin, stream: liveStream(liveId), decider: liveDecider, command })()
  if (E.isLeft(ended)) {
    switch (ended.left._tag) {
      case 'LiveUnknown':
        return E.right(null)
      case 'AlreadyCreated':
      case 'LiveOver':
      case 'SenderAlreadyConnected':
        throw unexpected(ended.left, liveStream(liveId))
      default:
        return E.left(ended.left)
    }
  }
  const released = await releaseLive(deps, liveId, origin)()
  return E.isLeft(released) ? released : E.right(ended.right.position)
}
