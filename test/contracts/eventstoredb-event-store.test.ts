import test from 'ava'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import { startDouble } from '../support/eventstoredb-double/start.ts'
import { eventStoreContract } from './event-store.contract.ts'

const double = startDouble()
test.after.always(async () => (await double).dispose())

/** Nothing here is about deadlines, and a busy machine may need its time. */
const PATIENT = '&keepAliveInterval=30000&keepAliveTimeout=30000'
const limits = { usual: 30_000, short: 30_000, suspicion: 0, confirmation: 30_000 }

// One after another: the double has one process for all.
eventStoreContract(
  'eventstoredb',
  async () => {
    const store = await openEventStoreDb({ url: `${await (await double).another()}${PATIENT}`, limits })
    return { store, close: store.close }
  },
  test.serial,
)
