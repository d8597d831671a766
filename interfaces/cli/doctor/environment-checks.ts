import { access, constants, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../application/ports/environment.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { BUNDLED_MODELS, findInstalledModels } from '../../../infrastructure/catalogue/installed-models.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { modelsDirOf } from '../../../infrastructure/settings.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { examineIsolation } from '../../../infrastructure/sources/source-isolation.ts'
import type { Check } from './check.ts'
import { deviceChecks } from './device-checks.ts'

const NODE_MAJOR = 24

const nodeCheck = (): Check => {
  const ok = Number(process.versions.node.split('.')[0]) >= NODE_MAJOR
  return { name: 'node', ok, detail: `${process.versions.node}${ok ? '' : `, ${NODE_MAJOR} or later is needed`}` }
}

const modelChecks = async (settings: Settings): Promise<ReadonlyArray<Check>> => {
  const problems: Array<string> = []
  const keep: Logger['warn'] = (fields, message) => {
    const { folder, directory, reason } = fields
    problems.push([folder ?? directory, reason ?? message].filter((part) => typeof part === 'string').join(': '))
  }
  const logger: Logger = { info: () => undefined, warn: keep, error: keep }
  const { models, translators } = await findInstalledModels({
    modelsDir: modelsDirOf(settings), mayBeMissing: settings.modelsDir === null, bundledDir: BUNDLED_MODELS, logger,
  })
  return [
    { name: 'models', ok: models.length > 0, detail: models.map(({ name }) => name).join(', ') || 'none' },
    { name: 'translators', ok: true, detail: translators.map(({ name }) => name).join(', ') || 'none' },
    ...problems.map((detail) => ({ name: 'model folder', ok: false, detail })),
  ]
}

const usable = async (directory: string): Promise<Check> => {
  const name = 'data directory'
  const there = await stat(directory).catch(() => null)
  if (there === null) return { name, ok: true, detail: `${directory}, made at the first start` }
  if (!there.isDirectory()) return { name, ok: false, detail: `${directory} is no directory` }
  return access(directory, constants.R_OK | constants.W_OK).then(
    () => ({ name, ok: true, detail: directory }),
    () => ({ name, ok: false, detail: `${directory} cannot be read and written` }),
  )
}

/** Opens a store and closes it again. What a driver says may hold the URL, and URLs hold passwords. */
const reachable = async (name: string, open: () => Promise<{ readonly close: () => Promise<void> }>): Promise<Check> => {
  try {
    const opened = await open()
    await opened.close()
    return { name, ok: true, detail: 'answers' }
  } catch (error) {
    return { name, ok: false, detail: `cannot be used: ${messageOf(error).replace(/\b[\w+]+:\/\/\S*/g, '***')}` }
  }
}

const storeChecks = async ({ dataDir, eventstoreUrl, mongoUrl, streamPrefix: prefix }: Settings): Promise<ReadonlyArray<Check>> => {
  const logger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const checks = [await usable(dataDir)]
  if (eventstoreUrl !== null) {
    const { openEventStoreDb } = await import('../../../infrastructure/eventstoredb/event-store.ts')
    checks.push(await reachable('event store', () => openEventStoreDb({ url: eventstoreUrl, prefix, logger })))
  }
  if (mongoUrl !== null) checks.push(await reachable('mongodb', () => connectMongo(mongoUrl, { prefix })))
  return checks
}

const portCheck = ({ host, port }: Settings): Promise<Check> =>
  new Promise((resolve) => {
    const server = createServer()
    const name = 'port'
    server.once('error', (error) => {
      const taken = 'code' in error && error.code === 'EADDRINUSE'
      resolve({ name, ok: false, detail: taken ? `${host}:${port} is taken; by a Stenolog that runs?` : `${host}:${port}: ${messageOf(error)}` })
    })
    server.listen(port, host, () => server.close(() => resolve({ name, ok: true, detail: `${host}:${port} is free` })))
  })

/** What the service needs, by its settings; without usable settings only what depends on none. */
export const examineEnvironment = async (settings: E.Either<ReadonlyArray<string>, Settings>): Promise<ReadonlyArray<Check>> => {
  if (E.isLeft(settings)) return [nodeCheck(), ...settings.left.map((detail) => ({ name: 'settings', ok: false, detail }))]
  const { problem } = await examineIsolation(settings.right.sourceIsolation)
  return [
    nodeCheck(),
    { name: 'settings', ok: true, detail: 'can be used' },
    ...(await modelChecks(settings.right)),
    ...(await deviceChecks(settings.right.vramMb)),
    { name: 'decoders', ok: problem === null, detail: problem ?? 'of URL sources can open no file and no socket' },
    ...(await storeChecks(settings.right)),
    await portCheck(settings.right),
  ]
}
