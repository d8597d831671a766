import test from 'ava'
import { openEventStoreDb } from '../../infrastructure/eventstoredb/event-store.ts'
import { PATIENT_LIMITS, patient } from '../support/eventstoredb-double/patient.ts'
import { startDouble } from '../support/eventstoredb-double/start.ts'
import { eventStoreContract } from './event-store.contract.ts'

const double = startDouble()
test.after.always(async () => (await double).dispose())

// One after another: the double has one process for all.
eventStoreContract(
  'eventstoredb',
  async () => {
    const store = await openEventStoreDb({ url: patient(await (await double).another()), limits: PATIENT_LIMITS })
    return { store, close: store.close }
  },
  { run: test.serial },
)
