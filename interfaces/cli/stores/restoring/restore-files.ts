import { chmod, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Documents } from '../../../../application/ports/documents.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { messageOf } from '../../../../domain/shared/message-of.ts'
import { copyPrivately } from '../../../../infrastructure/files/copy-privately.ts'
import { sync } from '../../../../infrastructure/files/sync.ts'
import { createLogger } from '../../../../infrastructure/observability/logger.ts'
import type { Settings } from '../../../../infrastructure/settings/settings.ts'
import { eraseKeys } from '../../../../infrastructure/sqlite/copy-database.ts'
import { openSqliteDocuments } from '../../../../infrastructure/sqlite/documents/documents.ts'
import { openSqliteEventStore } from '../../../../infrastructure/sqlite/event-log/event-store.ts'
import {
  DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE, SERVER_LIMIT_MS, UNFINISHED_RESTORE,
} from '../../../compose/stores.ts'
import { databasesNotOn, type Manifest, MASTER_KEY_FILE } from '../backup-manifest.ts'
import type { StatusLine } from '../../status-line.ts'
import { pendingDeletions, writeDeletions } from '../../../compose/restoring/deletions.ts'
import { discardNewer } from '../../../compose/restoring/discard-newer.ts'
import { recordIn, type RestoreOptions, type RestoreReport } from '../../../compose/restoring/record.ts'
import { readReplaced } from '../../../compose/restoring/replaced-data.ts'

/** Endings of the files that SQLite keeps next to a database. */
const SQLITE_SUFFIXES = ['-wal', '-shm', '-journal']

const removeSideFiles = async (file: string): Promise<void> => {
  for (const suffix of SQLITE_SUFFIXES) await rm(`${file}${suffix}`, { force: true })
}

const removeWithSideFiles = async (file: string): Promise<void> => {
  await removeSideFiles(file)
  await rm(file, { force: true })
}

/** Closes the data directory for other users. It stays open, with a warning, if it belongs to another user. */
const closeToOthers = (dataDir: string): Promise<void> =>
  chmod(dataDir, 0o700).catch((error: unknown) =>
    console.error(`warning: other users may be able to enter ${dataDir}: ${messageOf(error)}`))

/** Opens the log that becomes the service's: the copy of the backup, or the log in EventStoreDB. */
const openLog = async ({ eventstoreUrl: url, streamPrefix: prefix }: Settings, copy: string): Promise<EventStore> => {
  const logger = createLogger('warn')
  if (url === null) return await openSqliteEventStore({ file: copy, logger })
  const { openEventStoreDb } = await import('../../../../infrastructure/eventstoredb/event-store.ts')
  return await openEventStoreDb({ url, prefix, logger })
}

const withLog = async <A>(settings: Settings, copy: string, run: (store: EventStore) => Promise<A>): Promise<A> => {
  const store = await openLog(settings, copy)
  try {
    return await run(store)
  } finally {
    await store.close()
  }
}

/** Opens the lists that go with the log: those of the backup, or those in MongoDB. */
const openLists = async (
  { mongoUrl, streamPrefix: prefix }: Settings, copy: string,
): Promise<Pick<Documents, 'checkpoint' | 'discard' | 'close'>> => {
  if (mongoUrl === null) return await openSqliteDocuments({ file: copy })
  const { connectMongo } = await import('../../../../infrastructure/mongodb/connection.ts')
  const { createMongoDocuments } = await import('../../../../infrastructure/mongodb/documents.ts')
  const connection = await connectMongo(mongoUrl, { prefix, limitMs: SERVER_LIMIT_MS })
  return { ...createMongoDocuments(connection), close: connection.close }
}

interface RestoreTask {
  readonly directory: string
  readonly settings: Settings
  readonly manifest: Manifest
  readonly options: RestoreOptions
  readonly status: StatusLine
}

export interface Restored extends RestoreReport {
  /** Number of keys that exist in the backup and were erased after it. */
  readonly erasedAgain: number
}

/**
 * Restores the files of the backup. Copies are made next to the present files, get all that must hold from now on, and
 * then replace them. So each interrupted restore can be repeated: what was lost is in the present files, in the copies
 * that have replaced them, or in both. Throws when it refuses the backup.
 */
export const restoreFiles = async (task: RestoreTask): Promise<Restored> => {
  const { directory, settings, manifest, options, status } = task
  const target = (name: string): string => join(settings.dataDir, name)
  const copyOf = (name: string): string => target(`${name}.restoring`)
  const databases = databasesNotOn(manifest.servers ?? [])
  const withKey = manifest.files[MASTER_KEY_FILE] !== undefined && settings.masterKeyFile === null
  const files = [...databases, ...(withKey ? [MASTER_KEY_FILE] : [])]
  status.clear()
  await closeToOthers(settings.dataDir)
  try {
    for (const name of files) {
      status.show(`copying ${name}`)
      // An interrupted restore may have left them.
      await removeWithSideFiles(copyOf(name))
      await copyPrivately(join(directory, name), copyOf(name))
    }
    const replaced = await readReplaced(settings, copyOf, status)
    const pending = [...(await pendingDeletions(directory)), ...(await pendingDeletions(settings.dataDir))]
    const recording = { replaced, pending, backupAt: manifest.createdAt, options, status }
    const report = await withLog(settings, copyOf(EVENTS_FILE), async (store) => {
      // Before the events of the restore make the log longer.
      const documents = await openLists(settings, copyOf(DOCUMENTS_FILE))
      try {
        await discardNewer({ store, documents })
      } finally {
        await documents.close()
      }
      return await recordIn({ ...recording, store })
    })
    const erasedAgain = databases.includes(KEYRING_FILE) ? eraseKeys(copyOf(KEYRING_FILE), report.erasedKeys) : 0
    for (const name of files) {
      await removeSideFiles(copyOf(name))
      await sync(copyOf(name), 'r+')
    }
    await writeFile(target(UNFINISHED_RESTORE), `from ${directory}\n`, { mode: 0o600 })
    await writeDeletions(settings.dataDir, report.toDelete)
    await sync(settings.dataDir)
    for (const name of files) {
      // The content of the write-ahead files was moved into the files when they were read.
      await removeSideFiles(target(name))
      await rename(copyOf(name), target(name))
    }
    await sync(settings.dataDir)
    await rm(target(UNFINISHED_RESTORE))
    return { ...report, erasedAgain }
  } finally {
    for (const name of files) await removeWithSideFiles(copyOf(name))
  }
}
