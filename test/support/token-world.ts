import type { ExecutionContext } from 'ava'
import type { Caller } from '../../application/caller.ts'
import type { Environment } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import { createProfiles } from '../../application/profiles/commands/profiles.ts'
import { createKeyAuthentication } from '../../application/tokens/queries/authenticate-key.ts'
import { startTokenDirectory } from '../../application/tokens/policies/token-directory.ts'
import { createTokens } from '../../application/tokens/commands/tokens.ts'
import { createTokenUses } from '../../application/tokens/policies/token-uses.ts'
import { systemTimers as timers } from '../../infrastructure/node/system-timers.ts'
import { createMemoryEventStore } from './memory-event-store.ts'
import { createMemoryKeyring } from './memory-keyring.ts'
import { right } from './projecting.ts'
import { ada, startUserWorld } from './user-world.ts'

/** What outlives a process. */
interface Stores {
  readonly store?: EventStore
  readonly keyring?: ReturnType<typeof createMemoryKeyring>
}

export const callerOf = (userId: number): Caller => ({
  userId, permissions: [], maxSessions: 10, maxTranslations: 5, credential: 'jwt',
})

/** One process's users, profiles and API tokens over stores in memory, with a wall clock that can be set. */
export const startTokenWorld = async (t: ExecutionContext, stores: Stores = {}) => {
  const { store = createMemoryEventStore(), keyring = createMemoryKeyring() } = stores
  const world = await startUserWorld(t, { store, keyring })
  let at: string | null = null
  const environment: Environment = { ...world.environment, now: () => at ?? world.environment.now() }
  const stop = new AbortController()
  t.teardown(() => { stop.abort() })
  const { credentials, documents, projector, logger, directory: users } = world
  const write = { store, keyring, environment, timers }
  const directory = startTokenDirectory({ store, logger, environment, timers, signal: stop.signal })
  await directory.ready()
  const uses = createTokenUses({ ...write, logger })
  return {
    ...world,
    store,
    keyring,
    tokenDirectory: directory,
    uses,
    tokens: createTokens({ ...write, credentials, documents, tokens: directory, projector }),
    profiles: createProfiles({ ...write, documents, projector }),
    ...createKeyAuthentication({ tokens: directory, users, credentials, environment, uses }),
    /** Stops the wall clock at this instant. */
    setClock: (instant: string) => {
      at = instant
    },
    /** The id of a new user. */
    register: async (username: string): Promise<number> => right(await world.users.registerUser({ ...ada, username }, 'setup')()).id,
    stop: async () => {
      await uses.settled()
      stop.abort()
      await Promise.all([directory.stopped, world.stop()])
    },
  }
}
