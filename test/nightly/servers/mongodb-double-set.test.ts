import test from 'ava'
import type { ExecutionContext } from 'ava'
import { MongoClient, MongoServerError } from 'mongodb'
import type { Collection, MongoClientOptions } from 'mongodb'
import { eventually } from '../../support/tools/eventually.ts'
import { DURABLE, startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import type { MongoDouble } from '../../support/doubles/mongodb/process.ts'

// The replica set of the double, seen by the real driver.

interface Numbered {
  readonly _id: number
  readonly a?: number
  readonly at?: Date
}

const POLLING = { ...DURABLE, heartbeatFrequencyMS: 500, serverMonitoringMode: 'poll' } as const
const WITH_TIMEOUT = { writeConcern: { w: 'majority', journal: true, wtimeoutMS: 50 } } as const
const LOCAL_WRITE = { writeConcern: { w: 1, journal: true } } as const

const started = async (t: ExecutionContext, isLenient = false): Promise<MongoDouble> => {
  const double = await startMongoDouble({ replicaSet: 'rs0', isLenient })
  t.teardown(double.dispose)
  return double
}

const numbersAt = async (
  t: ExecutionContext,
  url: string,
  options: MongoClientOptions = POLLING,
): Promise<Collection<Numbered>> => {
  const client = await new MongoClient(url, options).connect()
  t.teardown(() => client.close())
  return client.db('test').collection<Numbered>('numbers')
}

/** A client of one member, whatever its state. */
const directly = (
  t: ExecutionContext,
  double: MongoDouble,
  member: number,
  options: MongoClientOptions = POLLING,
): Promise<Collection<Numbered>> => {
  const port = /:(\d+)/.exec(double.url('test').split(',')[member] ?? '')?.[1]
  return numbersAt(t, `mongodb://127.0.0.1:${port}/test?directConnection=true`, options)
}

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    if (!(await condition())) throw new Error(`not yet: ${String(condition)}`)
  }, { timeoutMs: 60_000 })

const untilPrimaryMoves = (double: MongoDouble, from: number): Promise<void> =>
  until(async () => ![null, from].includes((await double.state()).primary))

const set = (numbers: Collection<Numbered>, a: number, options: object = {}) =>
  numbers.updateOne({ _id: 1 }, { $set: { a } }, { upsert: true, ...options })

test('the driver finds all members, notices elections and repeats no write', async (t) => {
  const double = await started(t)
  // With an hour between heartbeats only messages of the server can announce the election.
  const client = await new MongoClient(double.url('test'), { ...DURABLE, heartbeatFrequencyMS: 3_600_000 }).connect()
  t.teardown(() => client.close())
  const types: Array<ReadonlyArray<string>> = []
  client.on('topologyDescriptionChanged', ({ newDescription }) =>
    types.push([...newDescription.servers.values()].map(({ type }) => type)),
  )
  const numbers = client.db('test').collection<Numbered>('numbers')
  await set(numbers, 0)
  for (let round = 1; round <= 3; round += 1) {
    const before = await double.state()
    const stepped = await double.turn({ turn: 'step-down', electionMs: 200 })
    t.deepEqual([stepped.primary, stepped.deposed], [null, []])
    await numbers.updateOne({ _id: 1 }, { $inc: { a: 1 } })
    const after = await double.state()
    t.not(after.primary, before.primary)
    t.is(after.term, before.term + 1)
    await until(() => types.at(-1)?.[after.primary ?? -1] === 'RSPrimary')
  }
  t.is((await numbers.findOne({ _id: 1 }))?.a, 3)
  t.deepEqual(types.at(-1)?.toSorted(), ['RSPrimary', 'RSSecondary', 'RSSecondary'])
})

test('a deposed primary acknowledges no majority and loses its writes when it steps down', async (t) => {
  const double = await started(t, true)
  const numbers = await numbersAt(t, double.url('test'))
  await set(numbers, 1)
  const deposed = await directly(t, double, 0)
  await double.turn({ turn: 'depose', electionMs: 0 })
  await untilPrimaryMoves(double, 0)
  t.deepEqual((await double.state()).deposed, [0])

  await set(deposed, 2, LOCAL_WRITE)
  const late = await t.throwsAsync(set(deposed, 3, WITH_TIMEOUT))
  t.regex(String(late), /replication timed out/)
  t.is((await deposed.findOne({ _id: 1 }))?.a, 3)
  t.is((await deposed.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a, 1)
  // The client waits for ever on the deposed primary until it has noticed the election.
  await until(async () => (await numbers.findOne({ _id: 1 }))?.a === 1)
  await until(async () => (await set(numbers, 4)).matchedCount === 1)
  t.is((await deposed.findOne({ _id: 1 }))?.a, 3)

  const waits = t.throwsAsync(set(deposed, 5), { instanceOf: MongoServerError })
  await until(async () => (await double.state()).waiting === 1)
  await double.turn({ turn: 'rejoin' })
  t.true([10107, 11602].includes(Number((await waits)?.code)))
  t.deepEqual((await double.state()).deposed, [])
  t.is((await deposed.findOne({ _id: 1 }, { readPreference: 'secondary' }))?.a, 4)
  t.is((await t.throwsAsync(set(deposed, 6, LOCAL_WRITE), { instanceOf: MongoServerError }))?.code, 10107)
})

test('an election needs a majority, and a short cut loses no write', async (t) => {
  const double = await started(t, true)
  const numbers = await numbersAt(t, double.url('test'))
  await set(numbers, 1)
  const { term } = await double.state()
  for (const member of [1, 2]) await double.turn({ turn: 'stop', member, electionMs: 0 })
  await t.throwsAsync(set(numbers, 2, WITH_TIMEOUT))
  t.is((await numbers.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a, 1)
  await double.turn({ turn: 'start', member: 2 })
  t.is((await numbers.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a, 2)
  t.like(await double.state(), { primary: 0, term })

  await double.turn({ turn: 'step-down', electionMs: 0 })
  await until(async () => (await double.state()).primary === 2)
  await double.turn({ turn: 'stop', member: 2, electionMs: 0 })
  await double.turn({ turn: 'start', member: 1 })
  await until(async () => [0, 1].includes((await double.state()).primary ?? -1))
  await until(async () => (await set(numbers, 3)).matchedCount === 1)

  const last = await double.state()
  await double.turn({ turn: 'stop', member: last.primary ?? -1, electionMs: 0 })
  // The election would be due at once.
  for (let look = 0; look < 5; look += 1) t.is((await double.state()).term, last.term, 'one member elects no primary')
  await double.turn({ turn: 'start', member: 2 })
  await until(async () => (await double.state()).term > last.term)
})

test('a frozen primary that wakes still claims to be primary, and its writes are lost', async (t) => {
  const double = await started(t, true)
  // Requests to the frozen member time out and are repeated.
  const numbers = await numbersAt(t, double.url('test'), { ...POLLING, socketTimeoutMS: 1000, connectTimeoutMS: 1000 })
  await set(numbers, 1)
  const patient = { ...DURABLE, serverMonitoringMode: 'poll', retryWrites: false, connectTimeoutMS: 300_000 } as const
  const frozen = await directly(t, double, 0, patient)
  await frozen.findOne({ _id: 1 })
  await double.turn({ turn: 'freeze', member: 0, electionMs: 0 })
  const requests = [
    set(frozen, 2, LOCAL_WRITE),
    t.throwsAsync(set(frozen, 3), { instanceOf: MongoServerError }),
  ] as const
  await untilPrimaryMoves(double, 0)
  await until(async () => (await set(numbers, 4)).matchedCount === 1)
  await double.turn({ turn: 'thaw', member: 0, claimMs: 100 })
  t.is((await requests[0]).modifiedCount, 1)
  t.is((await requests[1])?.code, 11602)
  await until(async () => (await double.state()).deposed.length === 0)
  t.is((await frozen.findOne({ _id: 1 }, { readPreference: 'secondary' }))?.a, 4)
})

test('the term never decreases, also after a kill of the whole set', async (t) => {
  const double = await started(t)
  const numbers = await numbersAt(t, double.url('test'))
  await set(numbers, 1)
  await double.turn({ turn: 'step-down', electionMs: 0 })
  await until(async () => (await set(numbers, 2)).matchedCount === 1)
  const { term, primary } = await double.state()
  await double.kill()
  await double.start()
  t.is((await double.state()).primary, primary)
  t.true((await double.state()).term > term)
  await until(async () => (await set(numbers, 3)).matchedCount === 1)
  t.is((await numbers.findOne({ _id: 1 }))?.a, 3)
})

test('each member has its own clock, and filters compare dates', async (t) => {
  const double = await started(t)
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

test('the double reports weak writes, except the displayed position of projections', async (t) => {
  for (const isLenient of [false, true]) {
    const double = await started(t, isLenient)
    const numbers = await numbersAt(t, double.url('test'))
    const client = await new MongoClient(double.url('test'), POLLING).connect()
    t.teardown(() => client.close())
    const checkpoints = client.db('test').collection<{ _id: string }>('checkpoints')
    await set(numbers, 1)
    await checkpoints.updateOne({ _id: 'lives_v1' }, { $set: { v: '1' } }, { upsert: true })
    await checkpoints.updateOne({ _id: 'lives_v1' }, { $set: { told: { position: '2' } } }, { writeConcern: { w: 1 } })
    t.deepEqual((await double.state()).weakWrites, [])
    const weak = [
      () => set(numbers, 2, { writeConcern: { w: 'majority' } }),
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

test('a client behind its own proxy can be cut off from all or some members', async (t) => {
  const double = await started(t)
  const other = await numbersAt(t, double.url('test'))
  const door = await double.door('worker-1')
  const options = { ...POLLING, serverSelectionTimeoutMS: 500, connectTimeoutMS: 500, socketTimeoutMS: 500 }
  const numbers = await numbersAt(t, door.url('test'), options)
  await set(numbers, 1)
  for (const line of ['closed', 'silent'] as const) {
    await door.line(line)
    await t.throwsAsync(set(numbers, 2))
    await set(other, 3)
    await door.line('open')
    await until(() => set(numbers, 4).then(() => true, () => false))
  }
  await door.line('closed', [1, 2])
  await set(numbers, 5)
  await double.turn({ turn: 'step-down', electionMs: 0 })
  await untilPrimaryMoves(double, 0)
  await t.throwsAsync(set(numbers, 6))
  await set(other, 7)
  await door.line('open')
  await until(() => set(numbers, 8).then(() => true, () => false))
  t.is((await other.findOne({ _id: 1 }))?.a, 8)
})
