import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { actorOf } from '../../caller.ts'
import { exists, liveDecider } from '../../../domain/live/decider.ts'
import type { LiveState } from '../../../domain/live/decider.ts'
import { LiveDeleted, liveKey, liveStream, textKey } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import type { LiveEvent } from '../../../domain/live/events.ts'
import { segmentsStream } from '../../../domain/transcript/events.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand, loadState } from '../../log/handle-command.ts'
import { startLogDuty } from '../../log/log-duty.ts'
import type { LogDutyDeps, RunningDuty } from '../../log/log-duty.ts'
import type { EventStore, Position } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import type { Services } from '../../services.ts'
import { releaseLive, unexpected } from './end-live.ts'
import type { EndLiveDeps } from './end-live.ts'
import type { Origin } from '../../log/origin.ts'

interface EraseDeps {
  readonly store: Pick<EventStore, 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
}

export interface DeleteLiveDeps extends EndLiveDeps {
  /** Best effort, at most 2 s: until the read models have passed the position. */
  readonly whenProjected: (position: Position) => Promise<void>
}

/** Its URL, its tokens and its text can never be read again, wherever they are. Repeatable. */
export const eraseLive = ({ store, keyring }: EraseDeps, liveId: number): TaskEither<Unavailable, void> => async () => {
  const erased = await keyring.erase([liveKey(liveId), textKey(liveId)])()
  return E.isLeft(erased) ? erased : await store.deleteStream(segmentsStream(liveId))()
}

/**
 * LiveDeleted, behind LiveFinished in the same append where the live still runs; then the release, then the keys.
 * Repeatable. Answers the position of the deletion when it was this call that made it, else null.
 */
export const removeLive = (deps: EndLiveDeps, liveId: number, origin: Origin): TaskEither<Unavailable, Position | null> => async () => {
  const stream = liveStream(liveId)
  const command = { type: 'DeleteLive', at: deps.environment.now() } as const
  const deleted = await handleCommand(deps)({ ...origin, stream, decider: liveDecider, command })()
  if (E.isLeft(deleted)) {
    switch (deleted.left._tag) {
      case 'LiveUnknown':
        return E.right(null)
      case 'LiveOver':
      case 'AlreadyCreated':
      case 'SenderAlreadyConnected':
        throw unexpected(deleted.left, stream)
      default:
        return E.left(deleted.left)
    }
  }
  const released = await releaseLive(deps, liveId, origin)()
  if (E.isLeft(released)) return released
  const erased = await eraseLive(deps, liveId)()
  return E.isLeft(erased) ? erased : E.right(deleted.right.position)
}

/** R86. After a crash the reconciler does the release and the duty below the keys. */
export const createDeleteLive = (deps: DeleteLiveDeps): Pick<Services, 'deleteLive'> => ({
  deleteLive: (caller, liveId) => async () => {
    const stream = liveStream(liveId)
    const before = await loadState(deps)<LiveState, LiveEvent>(stream, liveDecider)()
    if (E.isLeft(before)) return before
    const { state } = before.right
    if (!exists(state) || state.created.userId !== caller.userId) return E.left({ _tag: 'LiveNotFound' })

    const commandId = deps.environment.newId()
    const origin: Origin = { commandId, correlationId: commandId, actor: actorOf(caller) }
    const removed = await removeLive(deps, liveId, origin)()
    if (E.isLeft(removed)) return removed
    const position = removed.right
    // Another call was faster.
    if (position === null) return E.left({ _tag: 'LiveNotFound' })
    await deps.whenProjected(position)
    return E.right(undefined)
  },
})

const deletedOf = reading([LiveDeleted])

/** Erases what a deletion could not, because its process died or a store was away. Runs until stopped. */
export const startErasingDeleted = (deps: LogDutyDeps & EraseDeps): RunningDuty =>
  startLogDuty(deps, {
    name: 'erase-deleted',
    prefixes: ['live-'],
    concerns: (event) => deletedOf(event) !== undefined,
    perform: async (event) => {
      const deleted = deletedOf(event)
      if (deleted !== undefined) orThrow(await eraseLive(deps, deleted.data.liveId)())
    },
    failure: 'deleted lives could not be erased; trying again',
  })
