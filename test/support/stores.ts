import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventStore } from '../../application/ports/event-store.ts'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import { openSqliteEventStore } from '../../infrastructure/sqlite/event-store.ts'
import { startDouble } from './eventstoredb-double/start.ts'
import { startMongoDouble } from './mongodb-double/process.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Settings, without their prefix, that name servers to keep the data in. */
export interface ServerStores {
  readonly settings: Readonly<Record<string, string>>
  /** Ends the servers and removes what they kept. */
  readonly dispose: () => Promise<void>
}

/** Doubles of both servers, empty. */
export const startServerStores = async (): Promise<ServerStores> => {
  const keys = await temporaryDirectory()
  const keyFile = join(keys.path, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const [events, documents] = [await startDouble(), await startMongoDouble()]
  return {
    settings: { EVENTSTORE_URL: events.url, MONGO_URL: documents.url('stenolog'), MASTER_KEY_FILE: keyFile },
    dispose: async () => {
      await Promise.all([events.dispose(), documents.dispose()])
      await keys.remove()
    },
  }
}

/** The log of a service that does not run, wherever it is. */
export const openLogOf = (service: { readonly dataDirectory: string; readonly stores: Readonly<Record<string, string>> }): Promise<EventStore> => {
  const url = service.stores['EVENTSTORE_URL']
  return url === undefined ? openSqliteEventStore({ file: join(service.dataDirectory, 'events.sqlite') }) : openEventStoreDb({ url })
}
