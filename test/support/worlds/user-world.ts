import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../../application/ports/documents.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import type { Leases } from '../../../application/ports/leases.ts'
import { createAdministrators } from '../../../application/users/administrators.ts'
import { changeOwnPassword } from '../../../application/users/commands/change-own-password.ts'
import { changeUser } from '../../../application/users/commands/change-user.ts'
import { logIn } from '../../../application/users/commands/log-in.ts'
import { logOut } from '../../../application/users/commands/log-out.ts'
import { DEFAULT_QUOTAS, registerUser, type NewUser } from '../../../application/users/commands/register-user.ts'
import { createLoginThrottle } from '../../../application/users/login-throttle.ts'
import { completeUsers } from '../../../application/users/policies/complete-users.ts'
import { countAdministrators } from '../../../application/users/policies/count-administrators.ts'
import { createRehash } from '../../../application/users/policies/rehash.ts'
import { startLoginDirectory } from '../../../application/users/policies/login-directory.ts'
import { startUserDirectory } from '../../../application/users/policies/user-directory.ts'
import { authenticate } from '../../../application/users/queries/authenticate.ts'
import { isSetUp } from '../../../application/users/queries/is-set-up.ts'
import { whoAmI } from '../../../application/users/queries/who-am-i.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { systemTimers as timers } from '../../../infrastructure/process/system-timers.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from './single-process-leases.ts'
import { listUsers } from '../../../projections/users/queries.ts'
import { immediateTimers } from '../doubles/immediate-timers.ts'
import { right } from '../tools/right.ts'
import { createMemoryDocuments } from '../doubles/memory/documents.ts'
import { createMemoryEventStore } from '../doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../doubles/memory/keyring.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'
import { createTestCredentials } from '../doubles/credentials.ts'
import { createTestEnvironment } from '../doubles/environment.ts'
import { createStreamStates } from './stream-states.ts'

export const ada: NewUser = { username: 'Ada', password: 'first of all programs', permissions: [], ...DEFAULT_QUOTAS }

/** The stores that outlive a process. */
export interface UserStores {
  readonly store?: EventStore
  readonly keyring?: Keyring
  readonly documents?: Documents
  /** Default: the leases of a single process, which holds every lease. */
  readonly leases?: Leases
}

/** Starts the users of one process over stores in memory: directory, projections, authentication, registration. */
export const startUserWorld = async (t: ExecutionContext, stores: UserStores = {}) => {
  const { store = createMemoryEventStore(), keyring = createMemoryKeyring() } = stores
  const { documents = createMemoryDocuments(), leases = SINGLE_PROCESS_LEASES } = stores
  const stop = new AbortController()
  const { signal } = stop
  const environment = createTestEnvironment()
  const credentials = createTestCredentials()
  const logger = createRecordingLogger()
  const projector = startProjector({
    store, documents, projections: allProjections, leases, code: 'test', logger, environment, timers, signal,
  })
  const from = right(await store.head())
  const states = createStreamStates({ store, keyring, environment, timers })
  const directory = startUserDirectory({ states, store, keyring, from, logger, environment, timers, signal })
  const logins = startLoginDirectory({ store, from, logger, environment, timers, signal })
  const throttle = createLoginThrottle({ store, keyring, environment, timers, credentials, logger, enabled: false })
  const rehash = createRehash({ store, keyring, environment, timers, credentials, logger })
  t.teardown(() => { stop.abort() })
  await projector.caughtUp()
  const write = { store, keyring, environment, timers, states }
  const administrators = createAdministrators(write)
  const changing = { ...write, credentials, administrators, directory, projector }
  return {
    environment,
    write,
    administrators,
    credentials,
    logger,
    projector,
    directory,
    rehash,
    throttle,
    documents,
    users: {
      registerUser: registerUser(changing),
      isSetUp: isSetUp({ store, log: { hasUnreadable: () => false } }),
      countAdministrators: () => countAdministrators(write),
      /** Completes the users with all waits shortened to one turn of the event loop. */
      completeUsers: () => completeUsers({ ...write, timers: immediateTimers, documents, logger, administrators }),
      listUsers: listUsers({ documents, keyring }),
    },
    authentication: {
      logIn: logIn({ directory, credentials, throttle, rehash }),
      authenticate: authenticate({ directory, logins, credentials }),
      logOut: logOut({ ...changing, logins, jwtTtlSeconds: 3600 }),
    },
    changes: {
      whoAmI: whoAmI({ directory }),
      changeUser: changeUser({
        ...changing,
        endLivesOf: async () => E.right(undefined),
      }),
      changeOwnPassword: changeOwnPassword({ ...changing, throttle }),
    },
    stop: async () => {
      stop.abort()
      await Promise.all([projector.stopped, directory.stopped, logins.stopped])
    },
  }
}
