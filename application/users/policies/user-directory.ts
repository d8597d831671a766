import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { isUser, type User, userDecider, type UserState } from '../../../domain/user/decider.ts'
import { type UserEvent, usernameStream, userStream } from '../../../domain/user/events.ts'
import { usernameClaimDecider } from '../../../domain/user/username-claim.ts'
import type { Unavailable } from '../../refusals.ts'
import { type FollowDeps, type Follower, followLog } from '../../log/follow-log.ts'
import { type LoadDeps, loadReadable } from '../../log/states/load-state.ts'
import { createStreamCache } from '../../log/stream-cache.ts'
import type { EventStore } from '../../ports/event-store.ts'
import { hasPassword, isActive } from '../known-user.ts'

export interface UserDirectoryDeps extends FollowDeps, Pick<LoadDeps, 'keyring' | 'states'> {
  readonly store: EventStore
}

/** Finds a user. None: no such user is registered. Left: this cannot be determined at the moment. */
type FindUser<By> = (by: By) => Promise<Either<Unavailable, Option<User>>>

/**
 * Finds users in their own streams. Recently used users are kept in memory. While the store is unavailable, their last
 * known state is used. A change takes effect as soon as this process receives its event.
 */
export interface UserDirectory extends Follower {
  readonly byId: FindUser<number>
  readonly byUsernameHash: FindUser<string>
}

/** Returns whether a user is disabled. False while the directory cannot tell: the caller checks again. */
export const isDisabledIn =
  ({ byId }: Pick<UserDirectory, 'byId'>) =>
  async (userId: number): Promise<boolean> => {
    const found = await byId(userId)
    return E.isRight(found) && O.exists((user: User) => !isActive(user))(found.right)
  }

/** Number of users, and of names, that are kept in memory: more than are used within an hour. */
const MAX_REMEMBERED = 20_000

/** Follows the streams of users and usernames until `signal` aborts. */
export const startUserDirectory = (deps: UserDirectoryDeps): UserDirectory => {
  const users = createStreamCache({
    maxStreams: MAX_REMEMBERED,
    load: async (stream) =>
      pipe(await loadReadable(deps)<UserState, UserEvent>(stream, userDecider), E.map(({ state }) => state)),
    // A user with an unreadable password is not kept, because the password becomes readable when its key is restored.
    isWorthKeeping: (state) => isUser(state) && hasPassword(state),
  })
  const names = createStreamCache({
    maxStreams: MAX_REMEMBERED,
    load: async (stream) =>
      pipe(await loadReadable(deps)(stream, usernameClaimDecider), E.map(({ state }) => state)),
    isWorthKeeping: (claimant) => claimant !== null,
  })
  const byId: FindUser<number> = async (id) =>
    pipe(await users.get(userStream(id)), E.map((state) => (isUser(state) ? O.some(state) : O.none)))
  const follower = followLog(deps, {
    name: 'the user directory',
    prefixes: ['user-', 'username-'],
    onEvent: (stream) => {
      users.forget(stream)
      names.forget(stream)
    },
  })
  return {
    ...follower,
    byId,
    byUsernameHash: async (hash) => {
      const claimant = await names.get(usernameStream(hash))
      if (E.isLeft(claimant)) return claimant
      return claimant.right === null ? E.right(O.none) : await byId(claimant.right)
    },
  }
}
