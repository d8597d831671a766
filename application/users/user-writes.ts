import type { Either } from 'fp-ts/lib/Either.js'
import { isUser, userDecider } from '../../domain/user/decider.ts'
import type { User, UserCommand, UserRefusal, UserState } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { Handled, WriteDeps } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { USER_LISTS } from '../ports/projector.ts'
import type { Projector } from '../ports/projector.ts'
import type { UserDirectory } from './policies/user-directory.ts'

export interface UserWriteDeps extends WriteDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** The result of a command for a user. */
export type HandledByUser = Handled<UserState, UserEvent>

/** Sends a command to the stream of one user. */
export const sendToUser =
  (deps: WriteDeps) =>
  (userId: number, command: UserCommand, origin: Origin): Promise<Either<UserRefusal | Unavailable, HandledByUser>> =>
    handleCommand(deps)({ ...origin, stream: userStream(userId), decider: userDecider, command })

/** Waits until the directory and the read models show the command. Returns the user, or null for a deleted user. */
export const userOnceVisible =
  ({ directory, projector }: Pick<UserWriteDeps, 'directory' | 'projector'>) =>
  async ({ state, position }: HandledByUser): Promise<User | null> => {
    if (position !== null)
      await Promise.all([directory.whenSeen(position), projector.whenProjected(USER_LISTS, position)])
    return isUser(state) ? state : null
  }
