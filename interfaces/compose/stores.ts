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

/** Opens the embedded stores; throws an Error for people when the directory cannot be had. */
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
  const store = await openSqliteEventStore({ file: file(EVENTS_FILE), logger })
  const documents = await openSqliteDocuments({ file: file(DOCUMENTS_FILE) })
  const keyring = await openSqliteKeyring({ file: file(KEYRING_FILE), masterKey })
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), documents.close(), keyring.close()])
    lock.right.release()
  }
  return { store, documents, keyring, masterKey, close }
}
