import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { administers, isUser, userDecider } from '../../domain/user/decider.ts'
import type { UserState } from '../../domain/user/decider.ts'
import { userStream } from '../../domain/user/events.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import type { Unavailable } from '../errors.ts'
import { loadState } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { createTurns } from '../turns.ts'
import { hasPassword } from './known-user.ts'
import type { UserDirectory } from './policies/user-directory.ts'

interface AdministratorsDeps extends Pick<WriteDeps, 'store' | 'keyring'> {
  readonly directory: Pick<UserDirectory, 'ids' | 'byId'>
}

/** Whatever may take an administrator away: deletions, demotions and deactivations. */
export interface Administrators {
  /**
   * Runs `take`, one after another in this process, and tells it whether nobody but `userId` administers: two
   * administrators who take each other away at the same moment must not both succeed.
   */
  readonly takeAway: <L, A>(
    userId: number,
    take: (nobodyElseAdministers: boolean) => Promise<Either<L, A>>,
  ) => Promise<Either<L | Unavailable, A>>
}

export const createAdministrators = (deps: AdministratorsDeps): Administrators => {
  const { directory } = deps
  const inTurn = createTurns()

  /** By the log: the directory may not have heard yet that one of them was taken away. */
  const administersNow = async (userId: number): Promise<Either<Unavailable, boolean>> => {
    const loaded = await loadState(deps)<UserState, UserEvent>(userStream(userId), userDecider)()
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    // Whose password cannot be read, because the key is missing, cannot log in.
    return E.right(isUser(state) && administers(state) && hasPassword(state))
  }

  /** Where nobody is known to, but somebody's stream cannot be read, that is the answer: nobody knows. */
  const anyOther = async (userId: number): Promise<Either<Unavailable, boolean>> => {
    const others = directory.ids().filter((id) => id !== userId && O.exists(administers)(directory.byId(id)))
    let answer: Either<Unavailable, boolean> = E.right(false)
    for (const other of others) {
      const is = await administersNow(other)
      if (E.isRight(is) && is.right) return is
      if (E.isLeft(is)) answer = is
    }
    return answer
  }

  return {
    takeAway: (userId, take) =>
      inTurn('administrators', async () => {
        const others = await anyOther(userId)
        return E.isLeft(others) ? others : await take(!others.right)
      }),
  }
}
