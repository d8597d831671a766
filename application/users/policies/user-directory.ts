import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { isUser, userDecider } from '../../../domain/user/decider.ts'
import type { User } from '../../../domain/user/decider.ts'
import { userEvents } from '../../../domain/user/events.ts'
import type { UserEvent } from '../../../domain/user/events.ts'
import { openReadable } from '../../log/event-serialization.ts'
import type { Position, StoredEvent } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { followLog } from '../../log/follow-log.ts'
import type { FollowDeps } from '../../log/follow-log.ts'

export interface UserDirectoryDeps extends FollowDeps {
  readonly keyring: Keyring
}

/** Every user who was not deleted, in memory: who asks is answered without a store, and by the last known state while the store is away. */
export interface UserDirectory {
  readonly byId: (id: number) => Option<User>
  readonly byUsernameHash: (hash: string) => Option<User>
  /** Ascending. */
  readonly ids: () => ReadonlyArray<number>
  readonly count: () => number
  /** Resolves once all users of the log are known. */
  readonly ready: () => Promise<void>
  /** Resolves once the event of a user's stream at `position` is known, or after 2 s. */
  readonly whenSeen: (position: Position) => Promise<void>
  /** Resolves when the directory no longer follows the log, after the signal. */
  readonly stopped: Promise<void>
}

const knownTypes: ReadonlySet<string> = new Set(userEvents.map(({ type }) => type))

const createRoster = () => {
  const users = new Map<number, User>()
  const idsByHash = new Map<string, number>()

  const byId = (id: number): Option<User> => O.fromNullable(users.get(id))
  return {
    byId,
    byUsernameHash: (hash: string): Option<User> => {
      const id = idsByHash.get(hash)
      return id === undefined ? O.none : byId(id)
    },
    ids: (): ReadonlyArray<number> => [...users.keys()].toSorted((a, b) => a - b),
    count: (): number => users.size,
    add: (event: UserEvent): void => {
      const { userId } = event.data
      const state = userDecider.evolve(users.get(userId) ?? userDecider.initialState, event)
      if (isUser(state)) users.set(userId, state)
      else users.delete(userId)
      if (event.type === 'UserRegistered') idsByHash.set(event.data.usernameHash, userId)
    },
  }
}

/** Follows the users' streams until the signal. */
export const startUserDirectory = (deps: UserDirectoryDeps): UserDirectory => {
  const roster = createRoster()

  const take = async (events: ReadonlyArray<StoredEvent>): Promise<void> => {
    const opened = await openReadable(deps.keyring)(events.filter(({ type }) => knownTypes.has(type)))()
    if (E.isLeft(opened)) throw new Error('the users cannot be read', { cause: opened.left })
    // The codecs of the users' own events have decoded them.
    for (const event of opened.right as ReadonlyArray<UserEvent>) roster.add(event)
  }

  const { byId, byUsernameHash, ids, count } = roster
  return { byId, byUsernameHash, ids, count, ...followLog(deps, { who: 'the user directory', prefixes: ['user-'], take }) }
}
