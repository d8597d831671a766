import test from 'ava'
import { MongoClient, MongoServerError } from 'mongodb'
import { numbersAt, POLLING, setNumber, startDoubleSet } from '../../support/stores/mongodb-double-clients.ts'

// The double is a server that imitates MongoDB. These tests use its replica set through the real driver.

test('each member has its own clock, and filters compare dates', async (t) => {
  const double = await startDoubleSet(t)
  const numbers = await numbersAt(t, double.url('test'))
  const hour = 3_600_000
  const stamp = async (_id: number): Promise<number> => {
    const stored = await numbers.findOneAndUpdate(
      { _id },
      { $currentDate: { at: true }, $inc: { a: 1 } },
      { upsert: true, returnDocument: 'after' },
    )
    return stored?.at?.getTime() ?? Number.NaN
  }
  const first = await stamp(1)
  await double.turn({ turn: 'skew', member: 0, ms: hour })
  const second = await stamp(2)
  t.true(second - first >= hour)
  const [early, late] = [new Date(first), new Date(second)]
  const found = async (filter: object): Promise<ReadonlyArray<number>> =>
    (await numbers.find(filter, { sort: { _id: 1 } }).toArray()).map(({ _id }) => _id)
  t.deepEqual(await found({ at: { $lte: early } }), [1])
  t.deepEqual(await found({ at: { $gte: early } }), [1, 2])
  t.deepEqual(await found({ at: { $gt: early, $lte: late } }), [2])
  t.deepEqual(await found({ at: { $not: { $gt: early } } }), [1])
  await numbers.updateOne({ _id: 1 }, { $max: { at: late } })
  await numbers.updateOne({ _id: 2 }, { $min: { at: early } })
  t.deepEqual(await found({ at: late }), [1])
})

// A weak write is acknowledged before a majority of the members has stored it on disk.
test('the double reports weak writes, except those of the position that projections display', async (t) => {
  for (const isLenient of [false, true]) {
    const double = await startDoubleSet(t, isLenient)
    const numbers = await numbersAt(t, double.url('test'))
    const client = await new MongoClient(double.url('test'), POLLING).connect()
    t.teardown(() => client.close())
    const checkpoints = client.db('test').collection<{ _id: string }>('checkpoints')
    await setNumber(numbers, 1)
    await checkpoints.updateOne({ _id: 'lives_v1' }, { $set: { v: '1' } }, { upsert: true })
    await checkpoints.updateOne({ _id: 'lives_v1' }, { $set: { told: { position: '2' } } }, { writeConcern: { w: 1 } })
    t.deepEqual((await double.state()).weakWrites, [])
    const weak = [
      () => setNumber(numbers, 2, { writeConcern: { w: 'majority' } }),
      () => checkpoints.updateOne({ _id: 'lives_v1' }, { $set: { told: null, v: '2' } }, { writeConcern: { w: 1 } }),
    ]
    for (const write of weak) {
      if (isLenient) await write()
      else t.is((await t.throwsAsync(write, { instanceOf: MongoServerError }))?.code, 100)
    }
    t.deepEqual((await double.state()).weakWrites, [
      { collection: 'test.numbers', command: 'update', concern: '{"w":"majority"}' },
      { collection: 'test.checkpoints', command: 'update', concern: '{"w":1}' },
    ])
  }
})
