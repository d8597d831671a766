import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import { acquireDataDirectory } from '../../infrastructure/data-directory.ts'
import { loadMasterKey, loadOrCreateMasterKey } from '../../infrastructure/master-key.ts'
import type { Settings } from '../../infrastructure/settings.ts'
import { openSqliteDocuments } from '../../infrastructure/sqlite/documents.ts'
import { openSqliteEventStore } from '../../infrastructure/sqlite/event-store.ts'
import { openSqliteKeyring } from '../../infrastructure/sqlite/keyring.ts'

/** Files of the embedded stores, from the data directory. */
export const EVENTS_FILE = 'events.sqlite'
const DOCUMENTS_FILE = 'documents.sqlite'
const KEYRING_FILE = 'keyring.sqlite'

export interface Stores {
  readonly store: EventStore
  readonly documents: Documents
  readonly keyring: Keyring
  readonly masterKey: Buffer
  readonly close: () => Promise<void>
}

/** Never the embedded one in place of a server that does not answer. The client of the server is loaded only where there is one. */
const openEventStore = async (url: string | null, file: string, logger: Logger): Promise<EventStore> => {
  if (url === null) return await openSqliteEventStore({ file, logger })
  const { openEventStoreDb } = await import('../../infrastructure/eventstoredb/event-store.ts')
  return await openEventStoreDb({ url, logger })
}

/** Opens the stores that the settings name; throws an Error for people when the directory or a server cannot be had. */
export const openStores = async (settings: Settings, logger: Logger): Promise<Stores> => {
  const lock = acquireDataDirectory(settings.dataDir)
  if (E.isLeft(lock)) {
    const { left } = lock
    throw new Error(
      left._tag === 'DataDirectoryInUse'
        ? `another process uses the data directory ${left.path}`
        : `the data directory ${left.path} cannot be used: ${left.reason}`,
    )
  }
  const file = (name: string): string => join(settings.dataDir, name)
  const masterKey =
    settings.masterKeyFile === null ? await loadOrCreateMasterKey(file('master.key')) : await loadMasterKey(settings.masterKeyFile)
  const store = await openEventStore(settings.eventstoreUrl, file(EVENTS_FILE), logger)
  const documents = await openSqliteDocuments({ file: file(DOCUMENTS_FILE) })
  const keyring = await openSqliteKeyring({ file: file(KEYRING_FILE), masterKey })
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), documents.close(), keyring.close()])
    lock.right.release()
  }
  return { store, documents, keyring, masterKey, close }
}
