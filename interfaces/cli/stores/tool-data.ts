import type { Documents } from '../../../application/ports/documents.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import type { ShortenedStream } from '../../../application/ports/integrity.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { createLogger } from '../../../infrastructure/observability/logger.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { openSqliteDocumentsReader } from '../../../infrastructure/sqlite/documents/documents.ts'
import { sqliteGuards } from '../../../infrastructure/sqlite/documents/guards.ts'
import { openSqliteEventReader } from '../../../infrastructure/sqlite/event-log/event-reader.ts'
import { shortenedStreams } from '../../../infrastructure/sqlite/event-log/shortened-streams.ts'
import { openSqliteKeyringReader } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { sqliteErasedNames, sqliteKeyRows } from '../../../infrastructure/sqlite/verify-files.ts'
import type { KeyRow } from '../../../infrastructure/keys/verify-keys.ts'
import type { Guard } from '../../../infrastructure/store-rules/guard.ts'
import { SERVER_LIMIT_MS, readMasterKey } from '../../compose/stores.ts'
import { type DataFiles, dataFiles } from '../data-files.ts'

/** Read access to the stores. The service may run or be stopped. */
export interface ToolData {
  readonly store: Pick<EventStore, 'read' | 'subscribe' | 'head'>
  readonly documents: Pick<Documents, 'checkpoint' | 'get' | 'find' | 'scan'>
  readonly keyring: Pick<Keyring, 'open'>
  /** All keys in their stored, encrypted form. */
  readonly keyRows: () => AsyncIterable<KeyRow> | Iterable<KeyRow>
  readonly erasedNames: () => AsyncIterable<string> | Iterable<string>
  /** The streams that do not show all of their events. None on a server, which removes the hidden events. */
  readonly shortened: () => Iterable<ShortenedStream>
  /** The guards of all checkpoints and of the documents of these collections. */
  readonly guards: (collections: ReadonlyArray<string>) => AsyncIterable<Guard> | Iterable<Guard>
  /** The highest fencing token that a lease has given out. */
  readonly highestToken: () => Promise<number>
}

interface Closable {
  readonly close: () => Promise<void>
}

type LogReader = ToolData['store'] & Closable

const openLogReader = async (settings: Settings, { events }: DataFiles): Promise<LogReader> => {
  const { eventstoreUrl: url, streamPrefix: prefix } = settings
  if (url === null) return openSqliteEventReader({ file: events })
  const { openEventStoreDb } = await import('../../../infrastructure/eventstoredb/event-store.ts')
  return await openEventStoreDb({ url, prefix, logger: createLogger('error') })
}

type DocumentsAndKeys = Omit<ToolData, 'store' | 'shortened'> & Closable

const openDocumentsAndKeys = async (
  { mongoUrl, streamPrefix: prefix }: Settings,
  files: DataFiles,
  masterKey: Uint8Array,
): Promise<DocumentsAndKeys> => {
  if (mongoUrl === null) {
    const documents = openSqliteDocumentsReader({ file: files.documents })
    try {
      const keyring = await openSqliteKeyringReader({ file: files.keyring, masterKey })
      const close = async (): Promise<void> => void (await Promise.all([documents.close(), keyring.close()]))
      return {
        documents, keyring, close,
        keyRows: () => sqliteKeyRows(files.keyring),
        erasedNames: () => sqliteErasedNames(files.keyring),
        guards: (collections) => sqliteGuards(files.documents, collections),
        // Embedded leases have no tokens.
        highestToken: () => Promise.resolve(0),
      }
    } catch (error) {
      await documents.close()
      throw error
    }
  }
  const { connectMongo } = await import('../../../infrastructure/mongodb/connection.ts')
  const { createMongoDocuments } = await import('../../../infrastructure/mongodb/documents.ts')
  const { highestToken, mongoGuards } = await import('../../../infrastructure/mongodb/guards.ts')
  const { mongoErasedNames, mongoKeyRows, openMongoKeyringReader } =
    await import('../../../infrastructure/mongodb/keyring.ts')
  const connection = await connectMongo(mongoUrl, { prefix, limitMs: SERVER_LIMIT_MS })
  try {
    const keyring = await openMongoKeyringReader(connection, masterKey)
    const documents = createMongoDocuments(connection)
    return {
      documents, keyring, close: connection.close,
      keyRows: () => mongoKeyRows(connection),
      erasedNames: () => mongoErasedNames(connection),
      guards: (collections) => mongoGuards(connection, collections),
      highestToken: () => highestToken(connection),
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/** Opens the stores of the settings, calls `run` and closes them. Throws an Error when the stores cannot be read. */
export const withData = async <A>(
  settings: Settings,
  run: (data: ToolData, files: DataFiles) => Promise<A>,
): Promise<A> => {
  const files = dataFiles(settings)
  const masterKey = await readMasterKey(settings)
  const store = await openLogReader(settings, files)
  try {
    const { close, ...documentsAndKeys } = await openDocumentsAndKeys(settings, files, masterKey)
    try {
      const shortened = () => (settings.eventstoreUrl === null ? shortenedStreams(files.events) : [])
      return await run({ store, shortened, ...documentsAndKeys }, files)
    } finally {
      await close()
    }
  } finally {
    await store.close()
  }
}
