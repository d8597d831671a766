import test from 'ava'
import { BSON, MongoBulkWriteError, MongoClient, MongoServerError } from 'mongodb'
import { startMongoDouble } from '../support/mongodb-double/process.ts'

interface Numbered {
  readonly _id: number
  readonly a?: number
}

test('the double refuses what it does not know in the words of a server', async (t) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test')).connect()
  t.teardown(() => client.close())
  const database = client.db('test')
  const refused = async (command: BSON.Document): Promise<unknown> => {
    const error = await t.throwsAsync(database.command(command), { instanceOf: MongoServerError })
    return error?.code
  }
  t.is(await refused({ mapReduce: 'x' }), 59)
  t.is(await refused({ find: 'x', unheard: 1 }), 40415)
  t.is(await refused({ find: 'x', filter: { a: { $near: 1 } } }), 2)
  t.is(await refused({ find: 'x', filter: { $where: '1' } }), 2)
  t.is(await refused({ ping: 1, txnNumber: BSON.Long.fromNumber(1) }), 20)
  t.is(await refused({ getMore: BSON.Long.fromNumber(99), collection: 'x' }), 43)
  for (const [update, code] of [[{ $push: { a: 1 } }, 9], [{ a: 1, $set: { b: 1 } }, 52], [{ $set: { a: 1 }, $max: { a: 1 } }, 40], [{ $set: { _id: 2 } }, 66]] as const) {
    const query = { _id: 1 }
    await database.collection<Numbered>('x').updateOne(query, { $set: { a: 0 } }, { upsert: true })
    t.is(await refused({ findAndModify: 'x', query, update }), code)
  }
})

test('the double keeps unique keys, compares as BSON does, and pages through cursors', async (t) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test')).connect()
  t.teardown(() => client.close())
  const numbers = client.db('test').collection<Numbered>('numbers')
  await numbers.createIndex({ a: 1 }, { unique: true })
  await numbers.insertMany(Array.from({ length: 250 }, (_, n) => ({ _id: n, a: 1000 - n })))
  const error = await t.throwsAsync(numbers.insertMany([{ _id: 1, a: -1 }, { _id: 500, a: 751 }, { _id: 501, a: -2 }], { ordered: false }), { instanceOf: MongoBulkWriteError })
  t.deepEqual([error?.writeErrors].flat().map((failure) => [failure?.index, failure?.code]), [[0, 11000], [1, 11000]])
  t.deepEqual((await numbers.find({}, { sort: { a: 1 }, batchSize: 20 }).toArray()).map(({ a }) => a), [-2, ...Array.from({ length: 250 }, (_, n) => 751 + n)])
  t.deepEqual(await numbers.find({ a: { $lt: 0 } }, { projection: { _id: 1 } }).toArray(), [{ _id: 501 }])
  await numbers.drop()
  t.deepEqual(await client.db('test').listCollections().toArray(), [])
})

test('what the double acknowledged survives kill -9', async (t) => {
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const client = await new MongoClient(double.url('test'), { heartbeatFrequencyMS: 500 }).connect()
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
