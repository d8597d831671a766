import { randomUUID } from 'node:crypto'
import { ANY, EventStoreDBClient, jsonEvent, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { patient } from '../support/eventstoredb-double/patient.ts'
import { startDouble } from '../support/eventstoredb-double/start.ts'

/** Facts of the recordings t2, t10 and t11, on a double of its own. */
const start = async (t: ExecutionContext) => {
  const double = await startDouble()
  t.teardown(double.dispose)
  const client = EventStoreDBClient.connectionString(patient(double.url))
  t.teardown(() => client.dispose())
  return { double, client }
}

const event = (id: string = randomUUID()) => jsonEvent({ type: 'Fact', id, data: {} })

test.serial('t10: without an expected revision a retry is known until the server restarts, with one for ever', async (t) => {
  const { double, client } = await start(t)
  const ids = { any: randomUUID(), exists: randomUUID(), none: randomUUID() }
  const appendAll = async (): Promise<ReadonlyArray<bigint>> => [
    (await client.appendToStream('any', event(ids.any), { expectedRevision: ANY })).nextExpectedRevision,
    (await client.appendToStream('exists', event(ids.exists), { expectedRevision: STREAM_EXISTS })).nextExpectedRevision,
    (await client.appendToStream('none', event(ids.none), { expectedRevision: NO_STREAM })).nextExpectedRevision,
  ]
  await client.appendToStream('exists', event())
  t.deepEqual(await appendAll(), [0n, 1n, 0n])
  t.deepEqual(await appendAll(), [0n, 1n, 0n])
  await double.kill()
  await double.start()
  await eventually(() => client.appendToStream('w', event()))
  t.deepEqual(await appendAll(), [1n, 2n, 0n])
})

test.serial('t10: a subscription to a stream that does not exist yet has caught up with its first event', async (t) => {
  const { client } = await start(t)
  const told: string[] = []
  const subscription = client.subscribeToStream('late')
  subscription
    .on('confirmation', () => told.push('confirmation'))
    .on('caughtUp', () => told.push('caughtUp'))
    .on('data', (resolved) => told.push(`data ${resolved.event?.revision}`))
  const heard = (count: number): Promise<void> =>
    eventually(() => {
      if (told.length < count) throw new Error(`heard ${told.join(', ')}`)
    })
  await heard(1)
  await client.appendToStream('late', event())
  await heard(3)
  await client.appendToStream('late', event())
  await heard(4)
  t.deepEqual(told, ['confirmation', 'data 0', 'caughtUp', 'data 1'])
})

test.serial('t11: an append has the position of its last event, and a subscription from there none of them', async (t) => {
  const { client } = await start(t)
  const { position } = await client.appendToStream('p', [event(), event(), event()])
  const positions: unknown[] = []
  for await (const resolved of client.readStream('p')) positions.push(resolved.event?.position)
  t.deepEqual(positions.at(-1), position)
  if (position === undefined) return t.fail()
  const seen: string[] = []
  const subscription = client.subscribeToAll({ fromPosition: position })
  subscription.on('data', ({ event: found }) => seen.push(found?.streamId ?? ''))
  await new Promise<void>((resolve) => subscription.once('caughtUp', () => resolve()))
  await client.appendToStream('q', event())
  await eventually(() => {
    if (seen.length === 0) throw new Error('nothing yet')
  })
  t.deepEqual(seen, ['q'])
})

for (const [name, position] of [['inside a record', { commit: 31n, prepare: 31n }], ['no regular expression', null]] as const)
  test.serial(`t2: a subscription with what cannot be (${name}) ends with UnknownError`, async (t) => {
    const { client } = await start(t)
    await client.appendToStream('p', event())
    const subscription =
      position === null
        ? client.subscribeToAll({ filter: { filterOn: 'eventType', regex: '(', checkpointInterval: 1 } })
        : client.subscribeToAll({ fromPosition: position })
    const error = await new Promise<Error>((resolve) => subscription.once('error', resolve))
    t.is(error.constructor.name, 'UnknownError')
    t.is(error.message, '2 UNKNOWN: Exception was thrown by handler.')
  })
