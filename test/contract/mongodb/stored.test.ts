import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { MongoClient, MongoServerError } from 'mongodb'
import { MOVED, NO_CHECKPOINT } from '../../../application/ports/documents.ts'
import type { Position } from '../../../application/ports/event-store.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { checkUpserted, retryUpsert } from '../../../infrastructure/mongodb/guarded-writes.ts'
import { openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { markDatabases, databaseProblem } from '../../../infrastructure/mongodb/marks.ts'
import { right } from '../event-store-support.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { sealText } from '../../support/events/sealed-texts.ts'
import { checkpointAt, duty } from '../../support/read-models/checkpoints.ts'

const positionAt = (n: number): Position => String(n).padStart(20, '0') as Position
const put = (id: string, position: number, document: object) =>
  ({ kind: 'put', collection: 'lives', id, document: { ...document }, position: positionAt(position) }) as const
const LIVES = { name: 'lives', indexes: [['userId', 'id']] }

/** Opens the stores on a separate server, with direct access to the stored documents. */
const startMongo = async (t: ExecutionContext) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('stenolog'), { limitMs: 60_000 })
  t.teardown(connection.close)
  const client = await new MongoClient(double.url('stenolog')).connect()
  t.teardown(() => client.close())
  return {
    connection,
    documents: createMongoDocuments(connection),
    database: client.db(connection.readModels.databaseName),
  }
}

test('of several changes to one document in a commit, the latest position wins in any order', async (t) => {
  const { documents } = await startMongo(t)
  await right(documents.ensure([LIVES]))
  await right(
    documents.commit(
      duty('p'),
      [put('1', 1, { n: 1 }), put('1', 3, { n: 3 }), put('1', 2, { n: 2 })],
      checkpointAt(positionAt(3)),
    ),
  )
  t.like(await right(documents.get('lives', '1')), { value: { n: 3 } })
})

test('removed documents take no place on a page, and equal keys sort by id in both directions', async (t) => {
  const { documents } = await startMongo(t)
  await right(documents.ensure([LIVES]))
  const all = ['d', 'a', 'c', 'b', 'e'].map((id) => put(id, 1, { id, status: 'active' }))
  await right(documents.commit(duty('p'), all, checkpointAt(positionAt(1))))
  await right(
    documents.commit(
      duty('p'),
      [{ kind: 'remove', collection: 'lives', id: 'a', position: positionAt(2) }],
      checkpointAt(positionAt(2)),
    ),
  )
  for (const [direction, expected] of [
    ['ascending', ['b', 'c', 'd', 'e']],
    ['descending', ['e', 'd', 'c', 'b']],
  ] as const) {
    const page = (skip: number) =>
      right(documents.page('lives', { filter: {}, sort: { by: 'status', direction }, skip, limit: 2 }))
    t.deepEqual([...(await page(0)), ...(await page(2))].map(({ id }) => id), expected)
  }
})

test('read models get their declared indexes, and a dropped read model loses its documents', async (t) => {
  const { documents, database } = await startMongo(t)
  const names = async (): Promise<ReadonlyArray<string>> =>
    (await database.listCollections().toArray())
      .map(({ name }) => name)
      .filter((name) => /^(lives|other)_v/.test(name))
      .toSorted()
  await right(documents.ensure([LIVES, { name: 'other', indexes: [] }]))
  await right(documents.commit(duty('p'), [put('1', 1, { userId: 1, id: 1 })], checkpointAt(positionAt(1))))
  await right(
    documents.commit(duty('q'), [{ ...put('1', 1, { id: 1 }), collection: 'other' }], checkpointAt(positionAt(1))),
  )
  t.deepEqual((await database.collection('lives_v1').indexes()).map(({ name }) => String(name)).toSorted(), [
    '_id_',
    'by_userId_id',
  ])
  t.deepEqual(await names(), ['lives_v1', 'other_v1'])
  await right(documents.promote({ projection: 'q', collection: 'other' }, { projection: 'p', collection: 'lives' }))
  t.like(await right(documents.get('lives', '1')), { value: { id: 1 } })
  await right(documents.ensure([LIVES]))
  t.deepEqual(await names(), ['other_v1'], 'the replaced collection is dropped')
  await right(documents.discard({ projection: 'p', collection: 'lives' }))
  t.deepEqual(await names(), [])
})

const MODEL = { projection: 'lives', collection: 'lives' }
const STAGED = { projection: 'lives-staged', collection: 'lives-staged' }

/** Starts with a read model in use at position 1 and a staged read model at position 5. */
const startWithRebuilt = async (t: ExecutionContext) => {
  const mongo = await startMongo(t)
  await right(mongo.documents.ensure([LIVES, { ...LIVES, name: 'lives-staged' }]))
  await right(mongo.documents.commit(MODEL, [put('1', 1, { n: 1 })], checkpointAt(positionAt(1))))
  const rebuilt = { ...put('1', 5, { n: 5 }), collection: 'lives-staged' }
  await right(mongo.documents.commit(STAGED, [rebuilt], checkpointAt(positionAt(5))))
  return mongo
}

test('after a promotion that a writer missed, the checkpoint covers only documents of the new model', async (t) => {
  const { connection, documents } = await startWithRebuilt(t)
  const late = createMongoDocuments(connection)
  await right(late.commit(MODEL, [put('1', 2, { n: 2 })], checkpointAt(positionAt(2))))
  await right(documents.promote(STAGED, MODEL))
  await right(late.commit(MODEL, [put('2', 9, { n: 9 })], checkpointAt(positionAt(9))))
  // Timing decides which model the late writer reaches. The document and the checkpoint must agree.
  const { position } = await right(documents.checkpoint(MODEL))
  t.is(position, (await right(documents.get('lives', '2')))._tag === 'Some' ? positionAt(9) : positionAt(5))
})

test('a promotion that stopped between its two writes loses nothing and continues', async (t) => {
  const { documents, connection } = await startWithRebuilt(t)
  const pointers = connection.readModels.collection<{ _id: string }>('collections')
  const staged = await pointers.findOne({ _id: 'lives-staged' })
  const tear = () => pointers.replaceOne({ _id: 'lives-staged' }, { ...staged }, { upsert: true })
  await right(documents.promote(STAGED, MODEL))
  await tear()
  await right(documents.promote(STAGED, MODEL))
  await right(documents.ensure([LIVES]))
  t.like(await right(documents.get('lives', '1')), { value: { n: 5 } })
  await tear()
  await right(documents.discard(STAGED))
  await right(documents.ensure([{ ...LIVES, name: 'lives-staged' }]))
  t.deepEqual(await right(documents.scan('lives-staged', null, 9)), [])
  t.like(
    await right(documents.get('lives', '1')),
    { value: { n: 5 } },
    'discarding the staged name keeps the model in use',
  )
  t.is((await right(documents.checkpoint(MODEL))).position, positionAt(5))
})

test('only one of two concurrent promotions succeeds; an outdated or empty model is not promoted', async (t) => {
  const { documents, connection } = await startWithRebuilt(t)
  const late = createMongoDocuments(connection)
  const specs = [{ ...LIVES, name: 'lives-staged' }, LIVES]
  const placesOf = async (from: typeof documents): Promise<readonly [string, string]> => {
    const [staged = '', inUse = ''] = await right(from.ensure(specs))
    return [staged, inUse]
  }
  const seen = await placesOf(late)
  await right(documents.promote(STAGED, MODEL, seen))
  await right(documents.promote(STAGED, MODEL, seen))
  await right(documents.ensure(specs))
  t.like(await late.promote(STAGED, MODEL, [seen[1], seen[0]]), { left: { reason: MOVED.reason } })
  const next = await placesOf(documents)
  const outdated = { ...put('1', 9, { n: 9 }), collection: 'lives-staged' }
  await right(documents.commit(STAGED, [outdated], checkpointAt(positionAt(9))))
  await right(late.discard(STAGED))
  await right(late.ensure(specs))
  t.like(await documents.promote(STAGED, MODEL, next), { left: { reason: MOVED.reason } })
  t.like(await right(createMongoDocuments(connection).get('lives', '1')), { value: { n: 5 } })
})

test('a checkpoint in the older format holds until the read model is discarded or replaced', async (t) => {
  for (const end of ['discard', 'promote'] as const) {
    const { documents, connection } = await startMongo(t)
    await right(documents.ensure([LIVES, { ...LIVES, name: 'lives-staged' }]))
    await connection.readModels
      .collection<{ _id: string }>('checkpoints')
      .insertOne({ _id: 'lives', v: positionAt(7) } as never)
    t.deepEqual(await right(documents.checkpoint(MODEL)), checkpointAt(positionAt(7)))
    await right(end === 'discard' ? documents.discard(MODEL) : documents.promote(STAGED, MODEL))
    t.deepEqual(await right(documents.checkpoint(MODEL)), NO_CHECKPOINT, end)
  }
})

test('of an erased key only the name remains on the server', async (t) => {
  const { connection } = await startMongo(t)
  const keyring = await openMongoKeyring(connection, randomBytes(32))
  await sealText(keyring, 'user-1')
  await right(keyring.erase(['user-1']))
  const stored = await connection.keyring.collection<{ _id: string }>('keys').findOne({ _id: 'user-1' })
  t.deepEqual(Object.keys(stored ?? {}).toSorted(), ['_id', 'erasedAt'])
})

test('the format mark of a newer version stays and refuses this version', async (t) => {
  const { connection: { readModels } } = await startMongo(t)
  await markDatabases([readModels])
  t.is(await databaseProblem([readModels]), null)
  const marks = readModels.collection<{ _id: string; format: number }>('format')
  await marks.updateOne({ _id: 'stenolog' }, { $set: { format: 99 } })
  await markDatabases([readModels])
  t.is((await marks.findOne({ _id: 'stenolog' }))?.format, 99)
  t.regex((await databaseProblem([readModels])) ?? '', /newer version/)
})

test('a writer that loses the race for a new document succeeds later, with a limited number of attempts', async (t) => {
  const lost = new MongoServerError({ message: 'E11000 duplicate key error', code: 11_000 })
  const racing = (losses: number, error: Error = lost) => {
    let attempts = 0
    const run = retryUpsert(async () => {
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

test('a write that was acknowledged but not made is a failure', (t) => {
  t.notThrows(() => checkUpserted({ matchedCount: 1, upsertedCount: 0 }))
  t.notThrows(() => checkUpserted({ matchedCount: 0, upsertedCount: 1 }))
  t.throws(() => checkUpserted({ matchedCount: 0, upsertedCount: 0 }), { message: /did not make/ })
})
