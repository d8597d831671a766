import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { isUser, userDecider } from '../../../domain/user/decider.ts'
import type { User, UserState } from '../../../domain/user/decider.ts'
import { usernameStream, userStream } from '../../../domain/user/events.ts'
import type { UserEvent } from '../../../domain/user/events.ts'
import { usernameClaimDecider } from '../../../domain/user/username-claim.ts'
import type { Unavailable } from '../../errors.ts'
import { followLog } from '../../log/follow-log.ts'
import type { FollowDeps, Follower } from '../../log/follow-log.ts'
import { loadReadable } from '../../log/handle-command.ts'
import { createRemembered } from '../../log/remembered.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { hasPassword } from '../known-user.ts'

export interface UserDirectoryDeps extends FollowDeps {
  readonly store: EventStore
  readonly keyring: Keyring
}

/** None where nobody is registered, or not any more; Left where that cannot be told now. */
type FindUser<By> = (by: By) => TaskEither<Unavailable, Option<User>>

/**
 * Users by their own streams. Who was asked for lately is answered from memory, by the last known state while a store
 * is away, and a change is known as soon as the log tells of it.
 */
export interface UserDirectory extends Follower {
  readonly byId: FindUser<number>
  readonly byUsernameHash: FindUser<string>
}

/** Users, and names, that are remembered: more than come in an hour. */
const MOST = 20_000

/** Follows the users' streams until the signal. */
export const startUserDirectory = (deps: UserDirectoryDeps): UserDirectory => {
  const users = createRemembered({
    most: MOST,
    load: (stream) =>
      pipe(
        loadReadable(deps)<UserState, UserEvent>(stream, userDecider),
        TE.map(({ state }) => state),
      ),
    // A password that cannot be read may be there again once its key is.
    isWorthKeeping: (state) => isUser(state) && hasPassword(state),
  })
  const names = createRemembered({
    most: MOST,
    load: (stream) =>
      pipe(
        loadReadable(deps)(stream, usernameClaimDecider),
        TE.map(({ state }) => state),
      ),
    isWorthKeeping: (claimant) => claimant !== null,
  })
  const byId: FindUser<number> = (id) =>
    pipe(
      users.of(userStream(id)),
      TE.map((state) => (isUser(state) ? O.some(state) : O.none)),
    )
  const follower = followLog(deps, {
    who: 'the user directory',
    prefixes: ['user-', 'username-'],
    hear: (stream) => {
      users.forget(stream)
      names.forget(stream)
    },
  })
  return {
    ...follower,
    byId,
    byUsernameHash: (hash) =>
      pipe(
        names.of(usernameStream(hash)),
        TE.chain((claimant) => (claimant === null ? TE.right(O.none) : byId(claimant))),
      ),
  }
}
