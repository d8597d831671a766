import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { ServiceProcess } from '../../../interfaces/cli/service-process.ts'
import { startServiceProcess } from '../../../interfaces/cli/service-process.ts'
import type { Client } from './client.ts'
import { createClient, logIn } from './client.ts'
import { startTestStores } from '../stores/stores.ts'

/** The password that `TestService.user` gives. */
export const passwordOf = (username: string): string => `password of ${username}`

export const ADMIN = { username: 'root', password: 'correct horse battery staple' }

/** The whole service as a process of its own, on a data directory that outlives its kills. */
export interface TestService {
  readonly url: () => string
  readonly pid: () => number
  readonly log: () => string
  readonly dataDirectory: string
  /** What the tools need beside the directory to find its data: settings without their prefix. */
  readonly stores: Readonly<Record<string, string>>
  readonly anonymous: () => Client
  readonly admin: () => Promise<Client>
  /** Logs in as a user that `passwordOf` gives the password of. */
  readonly logIn: (username: string) => Promise<Client>
  /** Creates a user and logs in as it. */
  readonly user: (username: string, members?: Readonly<Record<string, unknown>>) => Promise<Client>
  /** Ends the process, by default as `kill -9` does. */
  readonly kill: (signal?: 'SIGTERM' | 'SIGINT' | 'SIGKILL') => Promise<number | null>
  /** Starts it again on the same data, after a kill. */
  readonly start: () => Promise<void>
}

/** Settings as a process takes them. */
export const prefixed = (settings: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`STENOLOG_${name}`, value]))

/**
 * Starts a service for as long as `dispose` is not called; `settings` without their prefix. With a `copied` directory, the
 * data of a service that has ended, it has not started yet. `others`: variables that are no settings.
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
    // Whether a decoder can be confined here is tried at each start, by two processes: tests of sources ask for it.
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
    if (service === undefined) throw new Error('it was not started')
    return service
  }
  const begun = copied === undefined ? start() : cp(copied, dataDirectory, { recursive: true })
  await begun.catch(async (error: unknown) => {
    await clean()
    throw error
  })
  const admin = () => logIn(running().url, ADMIN.username, ADMIN.password)
  let maker: { readonly url: string; readonly client: Promise<Client> } | undefined
  /** One log-in of the administrator makes all users. */
  const makerOfUsers = (): Promise<Client> => {
    const { url } = running()
    if (maker?.url !== url) maker = { url, client: admin() }
    return maker.client
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
      await (await makerOfUsers()).api.call('createUser', { body: { username, password, ...members } })
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

/** Starts a service and ends it with the test. */
export const startTestService = async (
  t: ExecutionContext,
  settings: Readonly<Record<string, string>> = {},
  copied?: string,
): Promise<TestService> => {
  const { dispose, ...service } = await runTestService(settings, copied)
  t.teardown(dispose)
  return service
}
