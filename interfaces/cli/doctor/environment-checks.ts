import { access, constants, stat } from 'node:fs/promises'
import { createServer, isIPv6 } from 'node:net'
import { dirname, resolve } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../application/ports/environment.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { BUNDLED_MODELS, findInstalledModels } from '../../../infrastructure/catalogue/installed-models.ts'
import { requireAtomicUpdates } from '../../../infrastructure/mongodb/atomic-updates.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { pathExists, provesAbsence } from '../../../infrastructure/files/path-exists.ts'
import { modelsDirOf, type Settings } from '../../../infrastructure/settings/settings.ts'
import { examineIsolation } from '../../../infrastructure/sources/source-isolation.ts'
import { isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { readMasterKey, unfinishedRestore } from '../../compose/stores.ts'
import type { Check } from './check.ts'
import { deviceChecks } from './device-checks.ts'
import { modeCheck } from './mode-checks.ts'

const NODE_MAJOR = 24
/** Time in which a running service answers on its port. */
const ANSWER_MS = 2000

const nodeCheck = (): Check => {
  const ok = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR
  return {
    name: 'node', ok, detail: `${process.versions.node}${ok ? '' : `; version ${NODE_MAJOR} or later is required`}`,
  }
}

/** Whether nothing exists at this path. False when this user cannot tell. */
const isMissing = (path: string): Promise<boolean> =>
  stat(path).then(() => false, provesAbsence)

const modelChecks = async (settings: Settings): Promise<ReadonlyArray<Check>> => {
  const { modelsDir } = settings
  const lacks = modelsDir !== null && (await isMissing(modelsDir))
  const problems: Array<string> = lacks ? [`STENOLOG_MODELS_DIR: there is no folder ${modelsDir}`] : []
  const keep: Logger['warn'] = (fields, message) => {
    const { folder, directory, reason } = fields
    problems.push([folder ?? directory, reason ?? message].filter((part) => typeof part === 'string').join(': '))
  }
  const logger: Logger = { info: () => undefined, warn: keep, error: keep }
  const { models, translators } = await findInstalledModels({
    modelsDir: modelsDirOf(settings), mayBeMissing: lacks || modelsDir === null, bundledDir: BUNDLED_MODELS, logger,
  })
  return [
    { name: 'models', ok: models.length > 0, detail: models.map(({ name }) => name).join(', ') || 'none' },
    { name: 'translators', ok: true, detail: translators.map(({ name }) => name).join(', ') || 'none' },
    ...problems.map((detail) => ({ name: 'model folder', ok: false, detail })),
  ]
}

const existingParentOf = async (path: string): Promise<string> => {
  const parent = dirname(path)
  return (await pathExists(parent)) || parent === path ? parent : existingParentOf(parent)
}

const isWritableFolder = async (path: string): Promise<boolean> =>
  (await stat(path)).isDirectory()
  && (await access(path, constants.W_OK | constants.X_OK).then(() => true, () => false))

const dataDirectoryCheck = async (directory: string): Promise<Check> => {
  const name = 'data directory'
  if (await isMissing(directory)) {
    const parent = await existingParentOf(resolve(directory))
    return (await isWritableFolder(parent))
      ? { name, ok: true, detail: `${directory} does not exist; the first start creates it` }
      : { name, ok: false, detail: `${directory} cannot be created in ${parent}` }
  }
  try {
    if (!(await stat(directory)).isDirectory()) return { name, ok: false, detail: `${directory} is not a directory` }
    await access(directory, constants.R_OK | constants.W_OK)
    const unfinished = unfinishedRestore(directory)
    return { name, ok: unfinished === null, detail: unfinished ?? directory }
  } catch {
    return { name, ok: false, detail: `${directory} is not readable and writable` }
  }
}

const masterKeyCheck = async (settings: Settings): Promise<Check> => {
  const name = 'master key'
  return readMasterKey(settings).then(
    () => ({ name, ok: true, detail: 'readable' }),
    (error: unknown) => ({ name, ok: false, detail: messageOf(error) }),
  )
}

interface OpenedStore {
  readonly close: () => Promise<void>
}

/** Opens a store, examines it and closes it again. Hides URLs in the driver's error: they can hold passwords. */
const connectionCheck = async <Store extends OpenedStore>(
  name: string,
  open: () => Promise<Store>,
  examine: (store: Store) => Promise<void> = async () => undefined,
): Promise<Check> => {
  try {
    const opened = await open()
    try {
      await examine(opened)
    } finally {
      await opened.close()
    }
    return { name, ok: true, detail: 'reachable' }
  } catch (error) {
    return { name, ok: false, detail: `not usable: ${messageOf(error).replace(/\b[\w+]+:\/\/\S*/g, '***')}` }
  }
}

const storeChecks = async (settings: Settings): Promise<ReadonlyArray<Check>> => {
  const { dataDir, eventstoreUrl, mongoUrl, streamPrefix: prefix } = settings
  const logger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const checks = [await dataDirectoryCheck(dataDir)]
  // Without the setting, the first start creates the key in the data directory.
  if (settings.masterKeyFile !== null) checks.push(await masterKeyCheck(settings))
  if (process.platform !== 'win32') checks.push(await modeCheck(settings))
  if (eventstoreUrl !== null) {
    const { openEventStoreDb } = await import('../../../infrastructure/eventstoredb/event-store.ts')
    checks.push(await connectionCheck('event store', () => openEventStoreDb({ url: eventstoreUrl, prefix, logger })))
  }
  if (mongoUrl !== null) {
    const open = () => connectMongo(mongoUrl, { prefix })
    checks.push(await connectionCheck('mongodb', open, requireAtomicUpdates))
  }
  return checks
}

/**
 * Whether the service of these settings runs and answers on its port; null when this user cannot tell. A service holds
 * its data directory as long as it runs, and it does not start without its port.
 */
const isOwnPort = async ({ dataDir, host, port }: Settings): Promise<boolean | null> => {
  const inUse = isDataDirectoryInUse(dataDir)
  if (inUse !== true) return inUse
  const url = `http://${isIPv6(host) ? `[${host}]` : host}:${port}/health/live`
  return await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).then(({ ok }) => ok, () => false)
}

const portProblem = ({ host, port }: Settings): Promise<NodeJS.ErrnoException | null> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(null)))
  })

const portCheck = async (settings: Settings): Promise<Check> => {
  const place = `${settings.host}:${settings.port}`
  const found = (ok: Check['ok'], state: string): Check => ({ name: 'port', ok, detail: `${place} ${state}` })
  const problem = await portProblem(settings)
  if (problem === null) return found(true, 'is free')
  if (problem.code !== 'EADDRINUSE') return found(false, `cannot be used: ${messageOf(problem)}`)
  const isOwn = await isOwnPort(settings)
  if (isOwn === null) return found(null, `is in use; cannot tell by what, because ${settings.dataDir} is not usable`)
  return isOwn
    ? found(true, 'is in use by this service, which runs')
    : found(false, 'is in use by another program')
}

type ReadSettings = E.Either<ReadonlyArray<string>, Settings>

/**
 * Checks the requirements of the service. With invalid settings it checks only Node and lists the errors of the
 * settings.
 */
export const examineEnvironment = async (settings: ReadSettings): Promise<ReadonlyArray<Check>> => {
  if (E.isLeft(settings))
    return [nodeCheck(), ...settings.left.map((detail) => ({ name: 'settings', ok: false, detail }))]
  const { problem } = await examineIsolation(settings.right.sourceIsolation)
  return [
    nodeCheck(),
    { name: 'settings', ok: true, detail: 'valid' },
    ...(await modelChecks(settings.right)),
    ...(await deviceChecks(settings.right.vramMb)),
    { name: 'decoders', ok: problem === null, detail: problem ?? 'isolated: no access to files or sockets' },
    ...(await storeChecks(settings.right)),
    await portCheck(settings.right),
  ]
}
