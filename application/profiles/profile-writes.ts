import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { profilesDecider } from '../../domain/profiles/decider.ts'
import type { ProfilesCommand, ProfilesRefusal, ProfilesState } from '../../domain/profiles/decider.ts'
import { profilesStream } from '../../domain/profiles/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { BuffersNotOrdered, Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { PROFILE_LISTS } from '../ports/projector.ts'
import type { Projector } from '../ports/projector.ts'
import { createTurns } from '../turns.ts'

export interface ProfileWriteDeps extends WriteDeps {
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** Sends a command to the caller's profiles. Returns the profiles once the read models show the change. */
export type SendToProfiles = (
  caller: Caller,
  command: ProfilesCommand,
  commandId: string,
) => Promise<Either<ProfilesRefusal | Unavailable, ProfilesState>>

/** Creates the writer of profiles. All profiles of a user form one aggregate. */
export const sendToProfiles = (deps: ProfileWriteDeps): SendToProfiles => {
  const handle = handleCommand(deps)
  const inTurn = createTurns()

  return async (caller, command, commandId) => {
    const stream = profilesStream(caller.userId)
    const origin = { commandId, correlationId: commandId, actor: actorOf(caller) }
    const handled = await inTurn(stream, () => handle({ stream, decider: profilesDecider, command, ...origin }))
    if (E.isLeft(handled)) return handled
    const { position, state } = handled.right
    if (position !== null) await deps.projector.whenProjected(PROFILE_LISTS, position)
    return E.right(state)
  }
}

/** Returns a refusal that names `min_buffer` if the request contains it, and `max_buffer` otherwise. */
export const buffersNotOrdered = (settings: Partial<EngineSettings>): BuffersNotOrdered => ({
  _tag: 'BuffersNotOrdered',
  member: settings.min_buffer === undefined ? 'max_buffer' : 'min_buffer',
})
