import { existsSync } from 'node:fs'
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

export interface Stores {
  readonly store: EventStore
  readonly documents: Documents
  readonly keyring: Keyring
  readonly masterKey: Buffer
  readonly close: () => Promise<void>
}

/** Opens the embedded stores; throws an Error for people when the directory cannot be had. */
export const openStores = async (settings: Settings, logger: Logger): Promise<Stores> => {
  const lock = takeDataDirectory(settings.dataDir)
  const file = (name: string): string => join(settings.dataDir, name)
  if (existsSync(file(UNFINISHED_RESTORE)))
    throw new Error(`a restore into ${settings.dataDir} was not finished: run it again, with --replace`)
  const keyFile = masterKeyPath(settings)
  const masterKey = settings.masterKeyFile === null ? await loadOrCreateMasterKey(keyFile) : await loadMasterKey(keyFile)
  const store = await openSqliteEventStore({ file: file(EVENTS_FILE), logger })
  const documents = await openSqliteDocuments({ file: file(DOCUMENTS_FILE) })
  const keyring = await openSqliteKeyring({ file: file(KEYRING_FILE), masterKey })
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), documents.close(), keyring.close()])
    lock.release()
  }
  return { store, documents, keyring, masterKey, close }
}
