import test from 'ava'
import { MOVED } from '../../application/ports/documents.ts'
import { createMemoryDocuments } from '../support/doubles/memory/documents.ts'
import { right } from './event-store-support.ts'
import { documentsContract } from './documents.contract.ts'

documentsContract('memory', () => {
  const documents = createMemoryDocuments()
  return Promise.resolve({ documents, close: documents.close })
})

test('memory: promoting documents that were moved is refused with the reason MOVED', async (t) => {
  const documents = createMemoryDocuments()
  const [staged, served] = [
    { projection: 'staged', collection: 'staged' },
    { projection: 'served', collection: 'served' },
  ]
  const places = await right(documents.ensure([staged, served].map(({ collection: name }) => ({ name, indexes: [] }))))
  await right(documents.discard(staged))
  await right(documents.ensure([{ name: 'staged', indexes: [] }]))

  const refusal = await documents.promote(staged, served, [String(places[0]), String(places[1])])

  t.deepEqual(refusal, { _tag: 'Left', left: MOVED })
})
