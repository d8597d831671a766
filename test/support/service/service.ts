import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { startServiceProcess, type ServiceProcess } from '../../../interfaces/cli/service-process.ts'
import { createClient, logIn, type Client } from './client.ts'
import { startTestStores } from '../stores/stores.ts'

/** The password of the users that `TestService.user` creates. */
export const passwordOf = (username: string): string => `password of ${username}`

export const ADMIN = { username: 'root', password: 'correct horse battery staple' }

/** The whole service in a separate process. Its data directory outlives its kills. */
export interface TestService {
  readonly url: () => string
  readonly pid: () => number
  readonly log: () => string
  readonly dataDirectory: string
  /** The settings (without prefix) with which a command-line tool finds the stores, in addition to the directory. */
  readonly stores: Readonly<Record<string, string>>
  readonly anonymous: () => Client
  readonly admin: () => Promise<Client>
  /** Logs in as a user that `user` created. */
  readonly logIn: (username: string) => Promise<Client>
  /** Creates a user and logs in. */
  readonly user: (username: string, members?: Readonly<Record<string, unknown>>) => Promise<Client>
  /** Ends the process with a signal, by default SIGKILL. Returns the exit code. */
  readonly kill: (signal?: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGKILL') => Promise<number | null>
  /** Starts the service again on the same data, after a kill. */
  readonly start: () => Promise<void>
}

/** Adds the prefix STENOLOG_ to the names of settings. */
export const prefixed = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`STENOLOG_${name}`, value]))

/**
 * Starts a service that runs until `dispose`. `settings`: without prefix. `copied`: the data directory of an ended
 * service; its data is copied, and the new service is not started. `others`: further environment variables.
 */
export const runTestService = async (
  settings: Readonly<Record<string, string>> = {},
  copied?: string,
  others: Readonly<Record<string, string>> = {},
): Promise<TestService & { readonly dispose: () => Promise<void> }> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'stenolog-test-'))
  const namesStores = 'EVENTSTORE_URL' in settings || 'MONGO_URL' in settings || 'MASTER_KEY_FILE' in settings
  const stores = namesStores ? null : await startTestStores()
  const environment = prefixed({
    HOST: '127.0.0.1',
    PORT: '0',
    DATA_DIR: dataDirectory,
    ADMIN_USERNAME: ADMIN.username,
    ADMIN_PASSWORD: ADMIN.password,
    RATE_LIMIT: '0',
    DRAIN_TIMEOUT: '0s',
    VRAM_MB: '100000',
    OVERCOMMIT: '0',
    // Each start tests with two processes whether a decoder can be isolated. Only tests of sources need that.
    SOURCE_ISOLATION: 'off',
    ...stores?.settings,
    ...settings,
  })
  const clean = async (): Promise<void> => {
    await stores?.dispose()
    await rm(dataDirectory, { recursive: true, force: true })
  }
  let service: ServiceProcess | undefined
  const start = async (): Promise<void> => {
    service = await startServiceProcess({ ...environment, ...others })
  }
  const running = (): ServiceProcess => {
    if (service === undefined) throw new Error('the service was not started')
    return service
  }
  const begun = copied === undefined ? start() : cp(copied, dataDirectory, { recursive: true })
  await begun.catch(async (error: unknown) => {
    await clean()
    throw error
  })
  const admin = () => logIn(running().url, ADMIN.username, ADMIN.password)
  let adminLogin: { readonly url: string; readonly client: Promise<Client> } | undefined
  /** Logs the administrator in once per start of the service, because a log-in hashes a password. */
  const sharedAdmin = (): Promise<Client> => {
    const { url } = running()
    if (adminLogin?.url !== url) adminLogin = { url, client: admin() }
    return adminLogin.client
  }
  return {
    url: () => running().url,
    pid: () => running().pid,
    log: () => running().log(),
    dataDirectory,
    stores: stores?.settings ?? {},
    anonymous: () => createClient(running().url),
    admin,
    logIn: (username) => logIn(running().url, username, passwordOf(username)),
    user: async (username, members = {}) => {
      const password = passwordOf(username)
      await (await sharedAdmin()).api.call('createUser', { body: { username, password, ...members } })
      return logIn(running().url, username, password)
    },
    kill: (signal = 'SIGKILL') => running().end(signal),
    start,
    dispose: async () => {
      await service?.end('SIGKILL')
      await clean()
    },
  }
}

/** Starts a service that ends with the test. */
export const startTestService = async (
  t: ExecutionContext,
  settings: Readonly<Record<string, string>> = {},
  copied?: string,
): Promise<TestService> => {
  const { dispose, ...service } = await runTestService(settings, copied)
  t.teardown(dispose)
  return service
}
