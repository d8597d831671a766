import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { userDecider } from '../../domain/user/decider.ts'
import type { User, UserState } from '../../domain/user/decider.ts'
import { userEvents } from '../../domain/user/events.ts'
import type { UserEvent } from '../../domain/user/events.ts'
import { openEvents } from '../event-serialization.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { BEGINNING } from '../ports/event-store.ts'
import type { EventStore, Position, StoredEvent } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { atMost, pause, retryDelay } from '../ports/timers.ts'
import type { Timers } from '../ports/timers.ts'

export interface UserDirectoryDeps {
  readonly store: Pick<EventStore, 'subscribe'>
  readonly keyring: Keyring
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

/** Every user, in memory: who asks is answered without a store, and by the last known state while the store is away. */
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

const MAX_WAIT_MS = 2000
const BATCH_SIZE = 500
/** Never long, so that a user disabled during an outage is refused within a second of its end. */
const RETRY = { first: 20, longest: 500 }

const knownTypes: ReadonlySet<string> = new Set(userEvents.map(({ type }) => type))

const createRoster = () => {
  const states = new Map<number, UserState>()
  const idsByHash = new Map<string, number>()

  const byId = (id: number): Option<User> => {
    const state = states.get(id)
    return state === undefined || state.status === 'none' ? O.none : O.some(state)
  }
  return {
    byId,
    byUsernameHash: (hash: string): Option<User> => {
      const id = idsByHash.get(hash)
      return id === undefined ? O.none : byId(id)
    },
    ids: (): ReadonlyArray<number> => [...states.keys()].toSorted((a, b) => a - b),
    count: (): number => states.size,
    add: (event: UserEvent): void => {
      const { userId } = event.data
      states.set(userId, userDecider.evolve(states.get(userId) ?? userDecider.initialState, event))
      if (event.type === 'UserRegistered') idsByHash.set(event.data.usernameHash, userId)
    },
  }
}

/** Follows the users' streams until the signal. */
export const startUserDirectory = (deps: UserDirectoryDeps): UserDirectory => {
  const { store, keyring, logger, environment, timers, signal } = deps
  const roster = createRoster()
  const caughtUp = Promise.withResolvers<void>()
  const waiters = new Set<{ readonly position: Position; readonly resolve: () => void }>()
  let position = BEGINNING
  let attempt = 0

  const take = async (events: ReadonlyArray<StoredEvent>, passed: Position): Promise<void> => {
    // Types that a later version added to the log say nothing that this one could use.
    const opened = await openEvents(keyring)(events.filter(({ type }) => knownTypes.has(type)))()
    if (E.isLeft(opened)) throw new Error('the users cannot be read', { cause: opened.left })
    // The codecs of the users' own events have decoded them.
    for (const event of opened.right as ReadonlyArray<UserEvent>) roster.add(event)
    position = passed
    attempt = 0
    for (const waiter of waiters) if (waiter.position <= position) waiter.resolve()
  }

  const follow = async (): Promise<void> => {
    let hasCaughtUp = false
    let batch: Array<StoredEvent> = []
    for await (const message of store.subscribe(position, ['user-'], signal)) {
      if (message.kind === 'event') batch.push(message.event)
      hasCaughtUp ||= message.kind === 'caught-up'
      if (!hasCaughtUp && batch.length < BATCH_SIZE) continue
      await take(batch, message.kind === 'event' ? message.event.position : message.position)
      batch = []
      if (hasCaughtUp) caughtUp.resolve()
    }
  }

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow()
      } catch (error) {
        logger.warn({ attempt, err: error }, 'the user directory lost the log and tries again')
      }
      await pause(timers, retryDelay(RETRY, attempt++, environment.random()), signal)
    }
  }

  const whenSeen = async (wanted: Position): Promise<void> => {
    if (wanted <= position) return
    const seen = Promise.withResolvers<void>()
    const waiter = { position: wanted, resolve: seen.resolve }
    waiters.add(waiter)
    await atMost(timers, MAX_WAIT_MS, seen.promise)
    waiters.delete(waiter)
  }

  const { byId, byUsernameHash, ids, count } = roster
  return { byId, byUsernameHash, ids, count, ready: () => caughtUp.promise, whenSeen, stopped: run() }
}
