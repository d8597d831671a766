import { join } from 'node:path'
import { openSqliteEventStore } from '../../infrastructure/sqlite/event-log/event-store.ts'
import { temporaryDirectory } from '../support/tools/temporary-directory.ts'
import { eventStoreContract } from './event-store.contract.ts'

eventStoreContract('sqlite', async () => {
  const { path, remove } = await temporaryDirectory()
  const store = await openSqliteEventStore({ file: join(path, 'log.db') })
  return {
    store,
    close: async () => {
      await store.close()
      await remove()
    },
  }
})
