import type { ExecutionContext } from 'ava'
import type { Caller } from '../../../application/caller.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { changeProfile } from '../../../application/profiles/commands/change-profile.ts'
import { createProfile } from '../../../application/profiles/commands/create-profile.ts'
import { removeProfile } from '../../../application/profiles/commands/remove-profile.ts'
import { openProfileWrites, type ProfileWriteDeps } from '../../../application/profiles/profile-writes.ts'
import { changeToken, type ChangeTokenDeps } from '../../../application/tokens/commands/change-token.ts'
import { issueToken, type IssueTokenDeps } from '../../../application/tokens/commands/issue-token.ts'
import { revokeToken } from '../../../application/tokens/commands/revoke-token.ts'
import { startTokenDirectory } from '../../../application/tokens/policies/token-directory.ts'
import { createTokenUses } from '../../../application/tokens/policies/token-uses.ts'
import { authenticateKey } from '../../../application/tokens/queries/authenticate-key.ts'
import { openTokenWrites, type TokenWriteDeps } from '../../../application/tokens/token-writes.ts'
import { systemTimers as timers } from '../../../infrastructure/process/system-timers.ts'
import { listTokens, tokenIdByPrefix, tokenIdsOf } from '../../../projections/api-tokens/queries.ts'
import type { QueryDeps } from '../../../projections/typed-documents.ts'
import { getProfile, listProfiles } from '../../../projections/profiles/queries.ts'
import { createMemoryEventStore } from '../doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../doubles/memory/keyring.ts'
import { right } from '../tools/right.ts'
import { ada, startUserWorld, type UserStores } from './user-world.ts'

/** The stores that outlive a process. */
interface Stores extends Pick<UserStores, 'documents' | 'leases'> {
  readonly store?: EventStore
  readonly keyring?: ReturnType<typeof createMemoryKeyring>
}

export const callerOf = (userId: number): Caller => ({
  userId, permissions: [], maxSessions: 10, maxTranslations: 5, credential: 'jwt',
})

/** The profile commands of one process. */
export const profileCommands = (deps: ProfileWriteDeps) => {
  const send = openProfileWrites(deps)
  return {
    createProfile: createProfile({ ...deps, send }),
    changeProfile: changeProfile({ ...deps, send }),
    removeProfile: removeProfile({ ...deps, send }),
  }
}

type TokenDeps = TokenWriteDeps &
  Pick<IssueTokenDeps, 'credentials'> &
  Pick<ChangeTokenDeps, 'tokens' | 'uses'> &
  QueryDeps

/** The commands and queries of API tokens of one process. */
export const tokenCommands = (deps: TokenDeps) => {
  const writing = { ...deps, ...openTokenWrites(deps) }
  return {
    issueToken: issueToken(writing),
    changeToken: changeToken(writing),
    revokeToken: revokeToken(writing),
    listTokens: listTokens(writing),
  }
}

/** Starts the users, profiles and API tokens of one process over stores in memory, with a settable wall clock. */
export const startTokenWorld = async (t: ExecutionContext, stores: Stores = {}) => {
  const { store = createMemoryEventStore(), keyring = createMemoryKeyring() } = stores
  const world = await startUserWorld(t, { ...stores, store, keyring })
  let fixedTime: string | null = null
  const environment: Environment = { ...world.environment, now: () => fixedTime ?? world.environment.now() }
  const stop = new AbortController()
  t.teardown(() => { stop.abort() })
  const { credentials, documents, projector, logger, directory: users } = world
  const write = { store, keyring, environment, timers, states: world.write.states }
  const following = { store, from: right(await store.head()), logger, environment, timers, signal: stop.signal }
  const findByPrefix = tokenIdByPrefix({ documents, whyBehind: () => null })
  const directory = startTokenDirectory({ ...write, ...following, tokenIdByPrefix: findByPrefix })
  const ownedTokens = tokenIdsOf({ documents })
  const uses = createTokenUses({ ...write, logger })
  return {
    ...world,
    store,
    keyring,
    tokenDirectory: directory,
    tokenIdsOf: ownedTokens,
    uses,
    tokens: tokenCommands({
      ...write, credentials, documents, tokens: directory, tokenIdsOf: ownedTokens, projector, uses,
    }),
    profiles: {
      ...profileCommands({ ...write, projector }),
      listProfiles: listProfiles({ documents, keyring }),
      getProfile: getProfile({ documents, keyring }),
    },
    authenticateKey: authenticateKey({ tokens: directory, users, credentials, environment, uses }),
    /** Stops the wall clock at this instant. */
    setClock: (instant: string) => {
      fixedTime = instant
    },
    /** Creates a user and returns its id. */
    register: async (username: string): Promise<number> =>
      right(await world.users.registerUser({ ...ada, username }, 'setup')).id,
    stop: async () => {
      await uses.settled()
      stop.abort()
      await Promise.all([directory.stopped, world.stop()])
    },
  }
}
