import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasServers, type Settings } from '../../infrastructure/settings/settings.ts'
import { startServiceProcess } from './service-process.ts'

/**
 * The settings of this process. The service process does not inherit the environment, so it receives them explicitly.
 */
const ownSettings = (): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('STENOLOG_') && value !== undefined ? [[name, value]] : []))

const TEMPORARY_SERVICE = {
  STENOLOG_HOST: '127.0.0.1',
  STENOLOG_PORT: '0',
  STENOLOG_DRAIN_TIMEOUT: '0s',
  STENOLOG_LOG_LEVEL: 'warn',
}

export const inTemporaryFolder = async <A>(use: (path: string) => Promise<A>): Promise<A> => {
  const path = await mkdtemp(join(tmpdir(), 'stenolog-'))
  try {
    return await use(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

const withServiceProcess = async <A>(settings: Readonly<Record<string, string>>, use: () => Promise<A>): Promise<A> => {
  const service = await startServiceProcess(settings)
  try {
    return await use()
  } finally {
    await service.end('SIGTERM')
  }
}

/**
 * Runs a service on a free loopback port for the duration of `use`. With external stores the service joins the cluster
 * in the role `api`, so it runs no sessions. It then has its own name and data directory, because the usual process of
 * this machine may start at the same time.
 */
export const withProcess = <A>(
  settings: Settings,
  use: (dataDir: string, runsModels: boolean) => Promise<A>,
): Promise<A> => {
  if (!hasServers(settings))
    return withServiceProcess({ ...ownSettings(), ...TEMPORARY_SERVICE }, () => use(settings.dataDir, true))
  const { STENOLOG_NODE_NAME: _, STENOLOG_INTERNAL_URL: __, ...shared } = ownSettings()
  return inTemporaryFolder((dataDir) => {
    const member = { ...shared, ...TEMPORARY_SERVICE, STENOLOG_ROLE: 'api', STENOLOG_DATA_DIR: dataDir }
    return withServiceProcess(member, () => use(dataDir, false))
  })
}
