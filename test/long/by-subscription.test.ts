import test from 'ava'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import { startsAndStops } from '../application/starts-and-stops.ts'
import { stores } from '../application/one-worker.ts'
import { startDouble } from '../support/eventstoredb-double/start.ts'

test('an admitted live that anybody creates on EventStoreDB is pulled, and stops when anybody finishes it', async (t) => {
  const double = await startDouble()
  const store = await openEventStoreDb({ url: double.url })
  t.teardown(async () => {
    await store.close()
    await double.dispose()
  })
  await startsAndStops(t, { ...stores(), store })
})
