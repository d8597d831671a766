import { randomBytes } from 'node:crypto'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { MongoClient, MongoServerError } from 'mongodb'
import type { Position } from '../../application/ports/event-store.ts'
import { connectMongo } from '../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../infrastructure/mongodb/documents.ts'
import { checkUpserted, despiteRaces } from '../../infrastructure/mongodb/guarded-writes.ts'
import { openMongoKeyring } from '../../infrastructure/mongodb/keyring.ts'
import { markDatabases, whyNotDatabases } from '../../infrastructure/mongodb/marks.ts'
import { right } from '../contracts/event-store-support.ts'
import { startMongoDouble } from '../support/mongodb-double/process.ts'
import { sealText } from '../support/texts.ts'

const at = (n: number): Position => String(n).padStart(20, '0') as Position
const put = (id: string, position: number, document: object) => ({ kind: 'put', collection: 'lives', id, document: { ...document }, position: at(position) } as const)
const LIVES = { name: 'lives', indexes: [['userId', 'id']] }

/** The stores on a server of their own, and a look at what is stored in it. */
const startMongo = async (t: ExecutionContext) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('stenolog'), { limitMs: 60_000 })
  t.teardown(connection.close)
  const client = await new MongoClient(double.url('stenolog')).connect()
  t.teardown(() => client.close())
  return { connection, documents: createMongoDocuments(connection), database: client.db(connection.readModels.databaseName) }
}

test('of several changes to one document in a commit the latest stays, in whatever order they come', async (t) => {
  const { documents } = await startMongo(t)
  await right(documents.ensure([LIVES]))
  await right(documents.commit('p', [put('1', 1, { n: 1 }), put('1', 3, { n: 3 }), put('1', 2, { n: 2 })], at(3)))
  t.like(await right(documents.get('lives', '1')), { value: { n: 3 } })
})

test('removed documents take no place on a page, and equals come in the order of their ids, either way', async (t) => {
  const { documents } = await startMongo(t)
  await right(documents.ensure([LIVES]))
  const all = ['d', 'a', 'c', 'b', 'e'].map((id) => put(id, 1, { id, status: 'active' }))
  await right(documents.commit('p', all, at(1)))
  await right(documents.commit('p', [{ kind: 'remove', collection: 'lives', id: 'a', position: at(2) }], at(2)))
  for (const [direction, expected] of [['ascending', ['b', 'c', 'd', 'e']], ['descending', ['e', 'd', 'c', 'b']]] as const) {
    const page = (skip: number) => right(documents.page('lives', { filter: {}, sort: { by: 'status', direction }, skip, limit: 2 }))
    t.deepEqual([...(await page(0)), ...(await page(2))].map(({ id }) => id), expected)
  }
})

test('read models are indexed as they ask for it, and what took its leave is dropped', async (t) => {
  const { documents, database } = await startMongo(t)
  const names = async (): Promise<ReadonlyArray<string>> =>
    (await database.listCollections().toArray()).map(({ name }) => name).filter((name) => /^(lives|other)_v/.test(name)).toSorted()
  await right(documents.ensure([LIVES, { name: 'other', indexes: [] }]))
  await right(documents.commit('p', [put('1', 1, { userId: 1, id: 1 })], at(1)))
  await right(documents.commit('q', [{ ...put('1', 1, { id: 1 }), collection: 'other' }], at(1)))
  t.deepEqual((await database.collection('lives_v1').indexes()).map(({ name }) => String(name)).toSorted(), ['_id_', 'by_userId_id'])
  t.deepEqual(await names(), ['lives_v1', 'other_v1'])
  await right(documents.promote({ projection: 'q', collection: 'other' }, { projection: 'p', collection: 'lives' }))
  t.like(await right(documents.get('lives', '1')), { value: { id: 1 } })
  await right(documents.ensure([LIVES]))
  t.deepEqual(await names(), ['other_v1'], 'whoever still read it is done')
  await right(documents.discard({ projection: 'p', collection: 'lives' }))
  t.deepEqual(await names(), [])
})

test('of an erased key nothing but its name is left on the server', async (t) => {
  const { connection } = await startMongo(t)
  const keyring = await openMongoKeyring(connection, randomBytes(32))
  await sealText(keyring, 'user-1')
  await right(keyring.erase(['user-1']))
  const stored = await connection.keyring.collection<{ _id: string }>('keys').findOne({ _id: 'user-1' })
  t.deepEqual(Object.keys(stored ?? {}).toSorted(), ['_id', 'erasedAt'])
})

test('the mark of a newer version stays, and is a reason to refuse', async (t) => {
  const { connection: { readModels } } = await startMongo(t)
  await markDatabases([readModels])
  t.is(await whyNotDatabases([readModels]), null)
  const marks = readModels.collection<{ _id: string; format: number }>('format')
  await marks.updateOne({ _id: 'stenolog' }, { $set: { format: 99 } })
  await markDatabases([readModels])
  t.is((await marks.findOne({ _id: 'stenolog' }))?.format, 99)
  t.regex((await whyNotDatabases([readModels])) ?? '', /newer version/)
})

test('who loses the race for a new document finds it at the next attempt, and does not try for ever', async (t) => {
  const lost = new MongoServerError({ message: 'E11000 duplicate key error', code: 11_000 })
  const racing = (losses: number, error: Error = lost) => {
    let attempts = 0
    const run = despiteRaces(async () => {
      attempts += 1
      if (attempts <= losses) throw error
      return attempts
    })
    return run
  }
  t.is(await racing(4), 5)
  await t.throwsAsync(racing(5), { is: lost })
  const other = new MongoServerError({ message: 'not primary', code: 10_107 })
  await t.throwsAsync(racing(1, other), { is: other })
})

test('a write that was acknowledged without having been made is a failure', (t) => {
  t.notThrows(() => checkUpserted({ matchedCount: 1, upsertedCount: 0 }))
  t.notThrows(() => checkUpserted({ matchedCount: 0, upsertedCount: 1 }))
  t.throws(() => checkUpserted({ matchedCount: 0, upsertedCount: 0 }), { message: /has not made/ })
})
