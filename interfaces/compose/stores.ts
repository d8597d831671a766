import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import type { Members, Self } from '../../application/ports/members.ts'
import { alone, EMBEDDED_NAME } from '../../infrastructure/alone.ts'
import { nodeNameIn } from '../../infrastructure/files/node-name.ts'
import { acquireDataDirectory } from '../../infrastructure/sqlite/data-directory.ts'
import { loadMasterKey, loadOrCreateMasterKey } from '../../infrastructure/keys/master-key.ts'
import type { Settings } from '../../infrastructure/settings.ts'
import { openSqliteDocuments } from '../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../infrastructure/sqlite/keyring/keyring.ts'
import { assemble } from './assemble.ts'
import type { Part } from './assemble.ts'

/** Files of the embedded stores, from the data directory. */
export const EVENTS_FILE = 'events.sqlite'
export const DOCUMENTS_FILE = 'documents.sqlite'
export const KEYRING_FILE = 'keyring.sqlite'
/** There while a restore is putting other files in the place of these. */
export const UNFINISHED_RESTORE = 'restore.unfinished'

export const masterKeyPath = ({ dataDir, masterKeyFile }: Pick<Settings, 'dataDir' | 'masterKeyFile'>): string =>
  masterKeyFile ?? join(dataDir, 'master.key')

/** Takes the data directory for this process; throws an Error for people when it cannot be had. */
export const takeDataDirectory = (dataDir: string): { readonly release: () => void } => {
  const lock = acquireDataDirectory(dataDir)
  if (E.isRight(lock)) return lock.right
  const { left } = lock
  throw new Error(
    left._tag === 'DataDirectoryInUse'
      ? `another process uses the data directory ${left.path}`
      : `the data directory ${left.path} cannot be used: ${left.reason}`,
  )
}

interface ReadStores {
  readonly documents: Documents
  readonly keyring: Keyring
  /** False while the server that holds them is away. */
  readonly isReachable: () => boolean
}

export interface Stores extends ReadStores {
  readonly store: EventStore
  readonly masterKey: Buffer
  readonly members: Members
}

/** Who this process is; its data directory must be taken. */
const selfOf = async ({ dataDir, nodeName, eventstoreUrl, mongoUrl }: Settings, incarnation: string): Promise<Self> => {
  if (eventstoreUrl === null && mongoUrl === null) return { name: EMBEDDED_NAME, incarnation }
  return { name: nodeName ?? (await nodeNameIn(dataDir)), incarnation }
}

const openEmbedded = (file: (name: string) => string, masterKey: Buffer): Promise<ReadStores & Part> =>
  assemble(async (opened) => {
    const documents = await openSqliteDocuments({ file: file(DOCUMENTS_FILE) })
    opened({ stop: documents.close })
    const keyring = await openSqliteKeyring({ file: file(KEYRING_FILE), masterKey })
    opened({ stop: keyring.close })
    return { documents, keyring, isReachable: () => true }
  })

/** The clients of servers are loaded only where there is a server: they take a third of the time of a start. */
const openMongo = (url: string, masterKey: Buffer): Promise<ReadStores & Part> =>
  assemble(async (opened) => {
    const { connectMongo } = await import('../../infrastructure/mongodb/connection.ts')
    const { createMongoDocuments } = await import('../../infrastructure/mongodb/documents.ts')
    const { openMongoKeyring } = await import('../../infrastructure/mongodb/keyring.ts')
    const connection = await connectMongo(url, { marks: true })
    opened({ stop: connection.close })
    const keyring = await openMongoKeyring(connection, masterKey)
    return { documents: createMongoDocuments(connection), keyring, isReachable: connection.isReachable }
  })

/** Never the embedded one in place of a server that does not answer. */
const openEventStore = async (url: string | null, file: string, logger: Logger): Promise<EventStore> => {
  if (url === null) return await openSqliteEventStore({ file, logger })
  const { openEventStoreDb } = await import('../../infrastructure/eventstoredb/event-store.ts')
  return await openEventStoreDb({ url, logger, marks: true })
}

/**
 * Opens the stores that the settings name; throws an Error for people when the directory or a server cannot be had, and
 * never takes an embedded store for a server that was asked for. `incarnation`: a UUID of this run of the process.
 */
export const openStores = (settings: Settings, logger: Logger, incarnation: string): Promise<Stores & Part> =>
  assemble(async (opened) => {
    const lock = takeDataDirectory(settings.dataDir)
    opened({ stop: async () => lock.release() })
    const file = (name: string): string => join(settings.dataDir, name)
    if (existsSync(file(UNFINISHED_RESTORE)))
      throw new Error(`a restore into ${settings.dataDir} was not finished: run it again, with --replace`)
    const keyFile = masterKeyPath(settings)
    const masterKey = settings.masterKeyFile === null ? await loadOrCreateMasterKey(keyFile) : await loadMasterKey(keyFile)
    const members = alone(await selfOf(settings, incarnation))
    opened({ stop: members.leave })
    const { mongoUrl } = settings
    const reads = opened(mongoUrl === null ? await openEmbedded(file, masterKey) : await openMongo(mongoUrl, masterKey))
    const store = await openEventStore(settings.eventstoreUrl, file(EVENTS_FILE), logger)
    opened({ stop: store.close })
    return { ...reads, store, masterKey, members }
  })
