import { createMemoryEventStore } from '../support/doubles/memory/event-store.ts'
import { eventStoreContract } from './event-store.contract.ts'

eventStoreContract('memory', () => {
  const store = createMemoryEventStore()
  return Promise.resolve({ store, close: store.close })
})
