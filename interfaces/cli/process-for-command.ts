import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasServers } from '../../infrastructure/settings.ts'
import type { Settings } from '../../infrastructure/settings.ts'
import { startServiceProcess } from './service-process.ts'

/** Of what this machine's process is told, beside its name and its data directory, what a command needs too. */
const ownSettings = (): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(process.env).flatMap(([name, value]) =>
    name.startsWith('STENOLOG_') && value !== undefined ? [[name, value]] : []))

const QUIET = {
  STENOLOG_HOST: '127.0.0.1',
  STENOLOG_PORT: '0',
  STENOLOG_DRAIN_TIMEOUT: '0s',
  STENOLOG_LOG_LEVEL: 'warn',
}

/** A folder that is there for as long as `use` takes. */
export const inTemporaryFolder = async <A>(use: (path: string) => Promise<A>): Promise<A> => {
  const path = await mkdtemp(join(tmpdir(), 'stenolog-'))
  try {
    return await use(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

const during = async <A>(settings: Readonly<Record<string, string>>, use: () => Promise<A>): Promise<A> => {
  const service = await startServiceProcess(settings)
  try {
    return await use()
  } finally {
    await service.end('SIGTERM')
  }
}

/**
 * A service on a free port of the loopback address for as long as `use` takes, which is told its data directory. Where
 * all data lie on servers it is one more member of the cluster that serves clients and nothing else: it is given no
 * sessions, and takes neither the name nor the data directory of the process of this machine, which may start meanwhile.
 */
export const withProcess = <A>(settings: Settings, use: (dataDir: string, runsModels: boolean) => Promise<A>): Promise<A> => {
  if (!hasServers(settings)) return during({ ...ownSettings(), ...QUIET }, () => use(settings.dataDir, true))
  const { STENOLOG_NODE_NAME: _, STENOLOG_INTERNAL_URL: __, ...shared } = ownSettings()
  return inTemporaryFolder((dataDir) =>
    during({ ...shared, ...QUIET, STENOLOG_ROLE: 'api', STENOLOG_DATA_DIR: dataDir }, () => use(dataDir, false)))
}
