import { join } from 'node:path'
import test from 'ava'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { dropAndResume } from '../../support/load/resume-drops.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const DROPS = 200

test.serial('a subscription survives 200 drops on the embedded store', async (t) => {
  const directory = await temporaryDirectory()
  const store = await openSqliteEventStore({ file: join(directory.path, 'events.sqlite') })
  t.teardown(async () => {
    await store.close()
    await directory.remove()
  })
  await dropAndResume(t, store, DROPS)
})

test.serial('a subscription survives 200 drops on EventStoreDB', async (t) => {
  const double = await startEventStoreDb()
  const store = await openEventStoreDb({ url: double.url, logger: createRecordingLogger() })
  t.teardown(async () => {
    await store.close()
    await double.dispose()
  })
  await dropAndResume(t, store, DROPS)
})

test.serial('a subscription survives 200 drops on the in-memory store', (t) =>
  dropAndResume(t, createMemoryEventStore(), DROPS),
)
