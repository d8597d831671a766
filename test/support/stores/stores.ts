import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { isOnServers } from './chosen-stores.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

/** The stores of one service. */
interface TestStores {
  /** The settings of the service without prefix; none for embedded stores. */
  readonly settings: Readonly<Record<string, string>>
  /** The data directories of the servers. */
  readonly directories: ReadonlyArray<string>
  /** Ends the servers and deletes their data. */
  readonly dispose: () => Promise<void>
}

/** Starts empty stores of the kind that the environment selects. */
export const startTestStores = async (): Promise<TestStores> => {
  if (!isOnServers) return { settings: {}, directories: [], dispose: () => Promise.resolve() }
  // A dynamic import, because the clients of the servers add a third to the load time of each file with a service.
  const [{ startEventStoreDb }, { startTestMongo }] = [await import('./eventstoredb.ts'), await import('./mongodb.ts')]
  const keys = await temporaryDirectory()
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const [events, documents] = [await startEventStoreDb(), await startTestMongo()]
  return {
    // Without a grace time sessions end with their process, as with embedded stores.
    settings: { EVENTSTORE_URL: events.url, MONGO_URL: documents.url, MASTER_KEY_FILE: keyFile, TAKEOVER_GRACE: '0s' },
    directories: [events.directory, ...(documents.directory === null ? [] : [documents.directory])],
    dispose: async () => {
      await Promise.all([events.dispose(), documents.dispose()])
      await keys.remove()
    },
  }
}

interface ServiceData {
  readonly dataDirectory: string
  readonly stores: Readonly<Record<string, string>>
}

/** Opens the log of a service, embedded or on a server. An embedded log must not be in use. */
export const openLogOf = async ({ dataDirectory, stores }: ServiceData): Promise<EventStore> => {
  const url = stores['EVENTSTORE_URL']
  if (url === undefined) {
    const { openSqliteEventStore } = await import('../../../infrastructure/sqlite/event-log/event-store.ts')
    return openSqliteEventStore({ file: join(dataDirectory, 'events.sqlite') })
  }
  const { openEventStoreDb } = await import('../../../infrastructure/eventstoredb/event-store.ts')
  return openEventStoreDb({ url })
}
