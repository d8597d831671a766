import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { isOnServers } from './chosen-stores.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

/** Where services of the tests keep their data. */
interface TestStores {
  /** Without their prefix; none for the embedded stores. */
  readonly settings: Readonly<Record<string, string>>
  /** What the servers keep, beside the data directory. */
  readonly directories: ReadonlyArray<string>
  /** Ends the servers and removes what they kept. */
  readonly dispose: () => Promise<void>
}

/** Empty stores, of the kind that the environment asks for. */
export const startTestStores = async (): Promise<TestStores> => {
  if (!isOnServers) return { settings: {}, directories: [], dispose: () => Promise.resolve() }
  // Each file with a service loads this one: the clients of the servers would take a third of that time.
  const [{ startEventStoreDb }, { startTestMongo }] = [await import('./eventstoredb.ts'), await import('./mongodb.ts')]
  const keys = await temporaryDirectory()
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const [events, documents] = [await startEventStoreDb(), await startTestMongo()]
  return {
    // No other process would take sessions over: they end with theirs, as they do with embedded stores.
    settings: { EVENTSTORE_URL: events.url, MONGO_URL: documents.url, MASTER_KEY_FILE: keyFile, TAKEOVER_GRACE: '0s' },
    directories: [events.directory, ...(documents.directory === null ? [] : [documents.directory])],
    dispose: async () => {
      await Promise.all([events.dispose(), documents.dispose()])
      await keys.remove()
    },
  }
}

/** The log of a service that does not run, wherever it is. */
export const openLogOf = async (service: { readonly dataDirectory: string; readonly stores: Readonly<Record<string, string>> }): Promise<EventStore> => {
  const url = service.stores['EVENTSTORE_URL']
  if (url === undefined) {
    const { openSqliteEventStore } = await import('../../../infrastructure/sqlite/event-log/event-store.ts')
    return openSqliteEventStore({ file: join(service.dataDirectory, 'events.sqlite') })
  }
  const { openEventStoreDb } = await import('../../../infrastructure/eventstoredb/event-store.ts')
  return openEventStoreDb({ url })
}
