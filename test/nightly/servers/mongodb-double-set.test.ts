import test, { type ExecutionContext } from 'ava'
import { MongoClient, MongoServerError, type Collection, type MongoClientOptions } from 'mongodb'
import { eventually } from '../../support/tools/eventually.ts'
import { DURABLE, type MongoDouble } from '../../support/doubles/mongodb/process.ts'
import {
  numbersAt, POLLING, setNumber, startDoubleSet, type Numbered,
} from '../../support/stores/mongodb-double-clients.ts'

// The double is a server that imitates MongoDB. These tests use its replica set through the real driver.

const WITH_TIMEOUT = { writeConcern: { w: 'majority', journal: true, wtimeoutMS: 50 } } as const
const LOCAL_WRITE = { writeConcern: { w: 1, journal: true } } as const

/** Connects to one member directly, also when it is not the primary. */
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

test('the driver finds all members, notices elections and repeats no write', async (t) => {
  const double = await startDoubleSet(t)
  // With an hour between heartbeats only messages of the server can announce the election.
  const client = await new MongoClient(double.url('test'), { ...DURABLE, heartbeatFrequencyMS: 3_600_000 }).connect()
  t.teardown(() => client.close())
  const types: Array<ReadonlyArray<string>> = []
  client.on('topologyDescriptionChanged', ({ newDescription }) =>
    types.push([...newDescription.servers.values()].map(({ type }) => type)),
  )
  const numbers = client.db('test').collection<Numbered>('numbers')
  await setNumber(numbers, 0)
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
  const double = await startDoubleSet(t, true)
  const numbers = await numbersAt(t, double.url('test'))
  await setNumber(numbers, 1)
  const deposed = await directly(t, double, 0)
  await double.turn({ turn: 'depose', electionMs: 0 })
  await untilPrimaryMoves(double, 0)
  t.deepEqual((await double.state()).deposed, [0])

  await setNumber(deposed, 2, LOCAL_WRITE)
  const late = await t.throwsAsync(setNumber(deposed, 3, WITH_TIMEOUT))
  t.regex(String(late), /replication timed out/)
  t.is((await deposed.findOne({ _id: 1 }))?.a, 3)
  t.is((await deposed.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a, 1)
  // Requests of the client wait on the deposed primary until the client has noticed the election.
  await until(async () => (await numbers.findOne({ _id: 1 }))?.a === 1)
  await until(async () => (await setNumber(numbers, 4)).matchedCount === 1)
  t.is((await deposed.findOne({ _id: 1 }))?.a, 3)

  const waits = t.throwsAsync(setNumber(deposed, 5), { instanceOf: MongoServerError })
  await until(async () => (await double.state()).waiting === 1)
  await double.turn({ turn: 'rejoin' })
  t.true([10107, 11602].includes(Number((await waits)?.code)))
  t.deepEqual((await double.state()).deposed, [])
  t.is((await deposed.findOne({ _id: 1 }, { readPreference: 'secondary' }))?.a, 4)
  t.is((await t.throwsAsync(setNumber(deposed, 6, LOCAL_WRITE), { instanceOf: MongoServerError }))?.code, 10107)
})

test('an election needs a majority, and a short outage of two members loses no write', async (t) => {
  const double = await startDoubleSet(t, true)
  const numbers = await numbersAt(t, double.url('test'))
  await setNumber(numbers, 1)
  const { term } = await double.state()
  for (const member of [1, 2]) await double.turn({ turn: 'stop', member, electionMs: 0 })
  await t.throwsAsync(setNumber(numbers, 2, WITH_TIMEOUT))
  t.is((await numbers.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a, 1)
  await double.turn({ turn: 'start', member: 2 })
  t.is((await numbers.findOne({ _id: 1 }, { readConcern: 'majority' }))?.a, 2)
  t.like(await double.state(), { primary: 0, term })

  await double.turn({ turn: 'step-down', electionMs: 0 })
  await until(async () => (await double.state()).primary === 2)
  await double.turn({ turn: 'stop', member: 2, electionMs: 0 })
  await double.turn({ turn: 'start', member: 1 })
  await until(async () => [0, 1].includes((await double.state()).primary ?? -1))
  await until(async () => (await setNumber(numbers, 3)).matchedCount === 1)

  const last = await double.state()
  await double.turn({ turn: 'stop', member: last.primary ?? -1, electionMs: 0 })
  // With `electionMs: 0` an election would happen at once.
  for (let look = 0; look < 5; look += 1) t.is((await double.state()).term, last.term, 'one member elects no primary')
  await double.turn({ turn: 'start', member: 2 })
  await until(async () => (await double.state()).term > last.term)
})

test('a frozen primary that wakes still claims to be primary, and its writes are lost', async (t) => {
  const double = await startDoubleSet(t, true)
  // Requests to the frozen member time out and are repeated.
  const numbers = await numbersAt(t, double.url('test'), { ...POLLING, socketTimeoutMS: 1000, connectTimeoutMS: 1000 })
  await setNumber(numbers, 1)
  const patient = { ...DURABLE, serverMonitoringMode: 'poll', retryWrites: false, connectTimeoutMS: 300_000 } as const
  const frozen = await directly(t, double, 0, patient)
  await frozen.findOne({ _id: 1 })
  await double.turn({ turn: 'freeze', member: 0, electionMs: 0 })
  const requests = [
    setNumber(frozen, 2, LOCAL_WRITE),
    t.throwsAsync(setNumber(frozen, 3), { instanceOf: MongoServerError }),
  ] as const
  await untilPrimaryMoves(double, 0)
  await until(async () => (await setNumber(numbers, 4)).matchedCount === 1)
  await double.turn({ turn: 'thaw', member: 0, claimMs: 100 })
  t.is((await requests[0]).modifiedCount, 1)
  t.is((await requests[1])?.code, 11602)
  await until(async () => (await double.state()).deposed.length === 0)
  t.is((await frozen.findOne({ _id: 1 }, { readPreference: 'secondary' }))?.a, 4)
})

test('the term never decreases, also after a kill of the whole set', async (t) => {
  const double = await startDoubleSet(t)
  const numbers = await numbersAt(t, double.url('test'))
  await setNumber(numbers, 1)
  await double.turn({ turn: 'step-down', electionMs: 0 })
  await until(async () => (await setNumber(numbers, 2)).matchedCount === 1)
  const { term, primary } = await double.state()
  await double.kill()
  await double.start()
  t.is((await double.state()).primary, primary)
  t.true((await double.state()).term > term)
  await until(async () => (await setNumber(numbers, 3)).matchedCount === 1)
  t.is((await numbers.findOne({ _id: 1 }))?.a, 3)
})

test('a client behind its own proxy can be cut off from all or some members', async (t) => {
  const double = await startDoubleSet(t)
  const other = await numbersAt(t, double.url('test'))
  const door = await double.door('worker-1')
  const options = { ...POLLING, serverSelectionTimeoutMS: 500, connectTimeoutMS: 500, socketTimeoutMS: 500 }
  const numbers = await numbersAt(t, door.url('test'), options)
  await setNumber(numbers, 1)
  for (const line of ['closed', 'silent'] as const) {
    await door.line(line)
    await t.throwsAsync(setNumber(numbers, 2))
    await setNumber(other, 3)
    await door.line('open')
    await until(() => setNumber(numbers, 4).then(() => true, () => false))
  }
  await door.line('closed', [1, 2])
  await setNumber(numbers, 5)
  await double.turn({ turn: 'step-down', electionMs: 0 })
  await untilPrimaryMoves(double, 0)
  await t.throwsAsync(setNumber(numbers, 6))
  await setNumber(other, 7)
  await door.line('open')
  await until(() => setNumber(numbers, 8).then(() => true, () => false))
  t.is((await other.findOne({ _id: 1 }))?.a, 8)
})
