import { isUser, type User, type UserState } from '../../domain/user/decider.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import type { Handled, WriteDeps } from '../log/handle-command.ts'
import { type Projector, USER_LISTS } from '../ports/projector.ts'
import type { UserDirectory } from './policies/user-directory.ts'

export interface UserWriteDeps extends WriteDeps {
  readonly directory: Pick<UserDirectory, 'byId' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

export type HandledByUser = Handled<UserState, UserEvent>

/** Waits until the directory and the read models show the command. Returns the user, or null for a deleted user. */
export const userOnceVisible =
  ({ directory, projector }: Pick<UserWriteDeps, 'directory' | 'projector'>) =>
  async ({ state, position }: HandledByUser): Promise<User | null> => {
    if (position !== null)
      await Promise.all([directory.whenSeen(position), projector.whenProjected(USER_LISTS, position)])
    return isUser(state) ? state : null
  }
