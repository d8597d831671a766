import test from 'ava'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { startsAndStops } from '../../unit/application/running/starts-and-stops.ts'
import { stores } from '../../simulation/workers/one-worker.ts'
import { startEventStoreDb } from '../../support/stores/eventstoredb.ts'

test('a session in EventStoreDB starts its puller, and its end stops the puller', async (t) => {
  const { url, dispose } = await startEventStoreDb()
  const store = await openEventStoreDb({ url })
  t.teardown(async () => {
    await store.close()
    await dispose()
  })
  await startsAndStops(t, { ...stores(), store })
})
