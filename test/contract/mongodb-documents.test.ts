import test from 'ava'
import type { Change, PageRequest } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { createMongoDocuments } from '../../infrastructure/mongodb/documents.ts'
import type { StoredDocument } from '../../infrastructure/mongodb/guarded-writes.ts'
import { pageQuery } from '../../infrastructure/mongodb/page-query.ts'
import { documentsContract } from './documents.contract.ts'
import { right } from './event-store-support.ts'
import { onEveryMongo } from './mongodb-support.ts'
import { checkpointAt } from '../support/read-models/checkpoints.ts'

const MODEL = { projection: 'lives', collection: 'lives' }
const positionAt = (n: number): Position => String(n).padStart(20, '0') as Position

const LIVES = { name: 'lives', indexes: [['userId', 'id'], ['userId', 'status', 'id'], ['id']] }
const STATUSES = ['pending', 'active', 'finished']
const [ASCENDING, DESCENDING] = [{ by: 'id', direction: 'ascending' }, { by: 'id', direction: 'descending' }] as const

/** Pages of 300 documents. The first 100 documents are removed, and two of three belong to user 1. */
const PAGES: ReadonlyArray<PageRequest> = [
  { filter: {}, sort: ASCENDING, skip: 0, limit: 10 },
  { filter: {}, sort: ASCENDING, skip: 150, limit: 10 },
  { filter: {}, sort: DESCENDING, skip: 195, limit: 10 },
  { filter: { userId: 1 }, sort: DESCENDING, skip: 100, limit: 10 },
  { filter: { userId: 1 }, sort: ASCENDING, skip: 0, limit: 10 },
  { filter: { userId: 1, status: ['pending', 'finished'] }, sort: DESCENDING, skip: 40, limit: 10 },
]

onEveryMongo((name, open) => {
  test.serial(`${name}: a page examines only the documents that it returns`, async (t) => {
    const { connection, close } = await open()
    t.teardown(close)
    const documents = createMongoDocuments(connection)
    await right(documents.ensure([LIVES]))
    const puts = Array.from({ length: 300 }, (_, n): Change => ({
      kind: 'put', collection: 'lives', id: String(n), position: positionAt(1),
      document: { id: n, userId: n % 3 === 0 ? 2 : 1, status: STATUSES[n % 4 % 3] ?? null },
    }))
    const removes = Array.from({ length: 100 }, (_, n): Change =>
      ({ kind: 'remove', collection: 'lives', id: String(n), position: positionAt(2) }))
    await right(documents.commit(MODEL, puts, checkpointAt(positionAt(1))))
    await right(documents.commit(MODEL, removes, checkpointAt(positionAt(2))))
    const lives = connection.readModels.collection<StoredDocument>('lives_v1')
    for (const page of PAGES) {
      const { filter, options } = pageQuery(page)
      const { executionStats } = await lives.find(filter, options).explain('executionStats')
      const { nReturned, totalDocsExamined, totalKeysExamined } = executionStats as Readonly<Record<string, number>>
      const request = JSON.stringify(page)
      t.is((await right(documents.page('lives', page))).length, nReturned ?? 0, request)
      t.is(totalDocsExamined, nReturned, request)
      // An index scan may examine a few more keys when it restarts.
      t.true(
        (totalKeysExamined ?? Infinity) <= page.skip + page.limit + 5,
        `${request} examines ${totalKeysExamined} keys`,
      )
    }
  })

  documentsContract(name, async () => {
    const { connection, close } = await open()
    return { documents: createMongoDocuments(connection), close }
  }, test.serial)
})
