import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { ProfilesCommand, ProfilesRefusals, ProfilesState } from '../../domain/profiles/decider.ts'
import { profilesStream } from '../../domain/profiles/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { CommandOf } from '../../domain/shared/decider.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { BuffersNotOrdered, Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { sendToProfiles } from '../log/send-to.ts'
import { PROFILE_LISTS, type Projector } from '../ports/projector.ts'
import { createTurns } from '../turns.ts'

export interface ProfileWriteDeps extends WriteDeps {
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** Sends a command to the caller's profiles. Returns the profiles once the read models show the change. */
export type SendToProfiles = ReturnType<typeof openProfileWrites>

/** Creates the writer of profiles. All profiles of a user form one aggregate. */
export const openProfileWrites = (deps: ProfileWriteDeps) => {
  const send = sendToProfiles(deps)
  const inTurn = createTurns()

  return async <Type extends ProfilesCommand['type']>(
    caller: Caller,
    command: CommandOf<ProfilesCommand, Type>,
    commandId: string,
  ): Promise<Either<ProfilesRefusals[Type] | Unavailable, ProfilesState>> => {
    const { userId } = caller
    const origin = { commandId, correlationId: commandId, actor: actorOf(caller) }
    const sent = await inTurn(profilesStream(userId), () => send(userId, command, origin))
    if (E.isLeft(sent)) return sent
    const { position, state } = sent.right
    if (position !== null) await deps.projector.whenProjected(PROFILE_LISTS, position)
    return E.right(state)
  }
}

/** Returns a refusal that names `min_buffer` if the request contains it, and `max_buffer` otherwise. */
export const buffersNotOrdered = (settings: Partial<EngineSettings>): BuffersNotOrdered => ({
  _tag: 'BuffersNotOrdered',
  member: settings.min_buffer === undefined ? 'max_buffer' : 'min_buffer',
})
