import test from 'ava'
import { BSON, MongoBulkWriteError, MongoClient, MongoServerError } from 'mongodb'
import { DURABLE, startMongoDouble } from '../../support/doubles/mongodb/process.ts'

interface Numbered {
  readonly _id: number
  readonly a?: number
}

test('the double refuses unknown commands with the error codes of a server', async (t) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test'), DURABLE).connect()
  t.teardown(() => client.close())
  const database = client.db('test')
  const refusalCode = async (command: BSON.Document): Promise<unknown> => {
    const error = await t.throwsAsync(database.command(command), { instanceOf: MongoServerError })
    return error?.code
  }
  t.is(await refusalCode({ mapReduce: 'x' }), 59)
  t.is(await refusalCode({ find: 'x', unheard: 1 }), 40415)
  t.is(await refusalCode({ find: 'x', filter: { a: { $near: 1 } } }), 2)
  t.is(await refusalCode({ find: 'x', filter: { $where: '1' } }), 2)
  t.is(await refusalCode({ ping: 1, txnNumber: BSON.Long.fromNumber(1) }), 20)
  t.is(await refusalCode({ getMore: BSON.Long.fromNumber(99), collection: 'x' }), 43)
  for (const [update, code] of [
    [{ $push: { a: 1 } }, 9],
    [{ a: 1, $set: { b: 1 } }, 52],
    [{ $set: { a: 1 }, $max: { a: 1 } }, 40],
    [{ $set: { _id: 2 } }, 66],
  ] as const) {
    const query = { _id: 1 }
    await database.collection<Numbered>('x').updateOne(query, { $set: { a: 0 } }, { upsert: true })
    t.is(await refusalCode({ findAndModify: 'x', query, update, writeConcern: { w: 'majority', j: true } }), code)
  }
})

test('the double keeps unique keys, sorts as BSON and pages through cursors', async (t) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test'), DURABLE).connect()
  t.teardown(() => client.close())
  const numbers = client.db('test').collection<Numbered>('numbers')
  await numbers.createIndex({ a: 1 }, { unique: true })
  await numbers.insertMany(Array.from({ length: 250 }, (_, n) => ({ _id: n, a: 1000 - n })))
  const error = await t.throwsAsync(
    numbers.insertMany([{ _id: 1, a: -1 }, { _id: 500, a: 751 }, { _id: 501, a: -2 }], { ordered: false }),
    { instanceOf: MongoBulkWriteError },
  )
  t.deepEqual([error?.writeErrors].flat().map((failure) => [failure?.index, failure?.code]), [[0, 11000], [1, 11000]])
  t.deepEqual(
    (await numbers.find({}, { sort: { a: 1 }, batchSize: 20 }).toArray()).map(({ a }) => a),
    [-2, ...Array.from({ length: 250 }, (_, n) => 751 + n)],
  )
  t.deepEqual(await numbers.find({ a: { $lt: 0 } }, { projection: { _id: 1 } }).toArray(), [{ _id: 501 }])
  await numbers.drop()
  t.deepEqual(await client.db('test').listCollections().toArray(), [])
})

test('acknowledged writes of the double survive kill -9', async (t) => {
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test'), { ...DURABLE, heartbeatFrequencyMS: 500 }).connect()
  t.teardown(() => client.close())
  const numbers = client.db('test').collection<Numbered>('numbers')
  const acknowledged: Array<number> = []
  for (let round = 0; round < 3; round += 1) {
    const inserts = Array.from({ length: 200 }, async (_, n) => {
      await numbers.insertOne({ _id: round * 1000 + n })
      acknowledged.push(round * 1000 + n)
    })
    await inserts[20]
    await double.kill()
    const settled = Promise.allSettled(inserts)
    await double.start()
    await settled
  }
  const stored = new Set((await numbers.find().toArray()).map(({ _id }) => _id))
  t.true(acknowledged.length > 60)
  t.deepEqual(acknowledged.filter((id) => !stored.has(id)), [])
})

test('the double refuses writes without durable acknowledgement, unless it is lenient', async (t) => {
  for (const isLenient of [false, true]) {
    const double = await startMongoDouble({ replicaSet: 'rs0', isLenient })
    t.teardown(double.dispose)
    for (const writeConcern of [{}, { w: 1, journal: true }, { w: 'majority' }] as const) {
      const client = await new MongoClient(double.url('test'), { writeConcern }).connect()
      t.teardown(() => client.close())
      const write = () =>
        client
          .db('test')
          .collection<Numbered>('numbers')
          .updateOne({ _id: 1 }, { $set: { a: 1 } }, { upsert: true })
      if (isLenient) await t.notThrowsAsync(write)
      else t.is((await t.throwsAsync(write, { instanceOf: MongoServerError }))?.code, 100)
    }
  }
})

test('only local reads of the double see writes without a majority, and a rollback removes them', async (t) => {
  const double = await startMongoDouble({ replicaSet: 'rs0', isLenient: true })
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test'), DURABLE).connect()
  t.teardown(() => client.close())
  const numbers = client.db('test').collection<Numbered>('numbers')
  const seen = async (): Promise<ReadonlyArray<unknown>> => [
    (await numbers.findOne({ _id: 1 }))?.a,
    (await numbers.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a,
    (await numbers.findOne({ _id: 1 }, { readPreference: 'secondary' }))?.a,
  ]
  const set = (a: number, options: object) =>
    numbers.updateOne({ _id: 1 }, { $set: { a } }, { upsert: true, ...options })
  await set(1, {})
  await double.cutOff()
  await set(2, { writeConcern: { w: 1 } })
  t.deepEqual(await seen(), [2, 1, 1])
  // The write of 2 changes nothing, but it waits for a majority too, because only the primary has the value 2.
  for (const a of [2, 3])
    await t.throwsAsync(set(a, { writeConcern: { w: 'majority', j: true, wtimeoutMS: 50 } }), {
      message: /replication timed out/,
    })
  t.deepEqual(await seen(), [3, 1, 1])
  await double.rollBack()
  t.deepEqual(await seen(), [1, 1, 1])
  await double.lag()
  await set(4, {})
  t.deepEqual(await seen(), [4, 4, 1])
  await double.kill()
  await double.start()
  t.is((await numbers.findOne({ _id: 1 }))?.a, 4)
})
