import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { profilesDecider } from '../../domain/profiles/decider.ts'
import type { ProfilesCommand, ProfilesRefusal, ProfilesState } from '../../domain/profiles/decider.ts'
import { profilesStream } from '../../domain/profiles/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { BuffersNotOrdered, Unavailable } from '../errors.ts'
import { createKnownStates, handleCommand } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Projector } from '../ports/projector.ts'
import { createTurns } from '../turns.ts'

export interface ProfileWriteDeps extends WriteDeps {
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** Users whose profiles stay folded in memory: a history only grows. */
const MOST_KNOWN = 500

/** Answers the caller's profiles after the command, once the read models show them. */
export type SendToProfiles = (
  caller: Caller,
  command: ProfilesCommand,
  commandId: string,
) => TaskEither<ProfilesRefusal | Unavailable, ProfilesState>

/**
 * A user's whole set of saved engine settings is one aggregate. One a process: it remembers the sets that changed last.
 */
export const sendToProfiles = (deps: ProfileWriteDeps): SendToProfiles => {
  const handle = handleCommand(deps)
  const inTurn = createTurns()
  const knownStates = createKnownStates<ProfilesState>(MOST_KNOWN)

  return (caller, command, commandId) => async () => {
    const stream = profilesStream(caller.userId)
    const about = { commandId, correlationId: commandId, actor: actorOf(caller) }
    const handled = await inTurn(stream, handle({ stream, decider: profilesDecider, command, knownStates, ...about }))
    if (E.isLeft(handled)) return handled
    if (handled.right.position !== null) await deps.projector.whenProjected(handled.right.position)
    return E.right(handled.right.state)
  }
}

/** Named after the member that was sent. */
export const buffersNotOrdered = (settings: Partial<EngineSettings>): BuffersNotOrdered => ({
  _tag: 'BuffersNotOrdered',
  member: settings.min_buffer === undefined ? 'max_buffer' : 'min_buffer',
})
