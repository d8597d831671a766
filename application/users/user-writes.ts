import type { Either } from 'fp-ts/lib/Either.js'
import { isUser, userDecider } from '../../domain/user/decider.ts'
import type { User, UserCommand, UserRefusal, UserState } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { Handled, WriteDeps } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import type { Projector } from '../ports/projector.ts'
import type { UserDirectory } from './policies/user-directory.ts'

export interface UserWriteDeps extends WriteDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

export type Sent = Either<UserRefusal | Unavailable, Handled<UserState, UserEvent>>

/** A command to one user's stream. */
export const sendToUser =
  (deps: WriteDeps) =>
  (userId: number, command: UserCommand, origin: Origin): Promise<Sent> =>
    handleCommand(deps)({ ...origin, stream: userStream(userId), decider: userDecider, command })()

/** The user after a command, once the directory and the lists know; null where there is none any more. */
export const onceKnown =
  ({ directory, projector }: Pick<UserWriteDeps, 'directory' | 'projector'>) =>
  async ({ state, position }: Handled<UserState, UserEvent>): Promise<User | null> => {
    if (position !== null) await Promise.all([directory.whenSeen(position), projector.whenProjected(position)])
    return isUser(state) ? state : null
  }
