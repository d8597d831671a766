import { excludeSystemEvents, START, streamNameFilter, UnavailableError, type Position } from '@eventstore/db-client'
import test from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import {
  clientOfEmptyLog, eventsOf, factEvent, recordSubscription, startOwnEventStoreDb, until,
} from '../../support/stores/eventstoredb-clients.ts'

test.serial('t2: unsubscribing causes the messages end and close, but no error and no more events', async (t) => {
  const client = await clientOfEmptyLog(t)
  await client.appendToStream('a', factEvent())
  const subscription = client.subscribeToAll({ filter: excludeSystemEvents() })
  const received = recordSubscription(subscription)
  await until(() => received.messages.includes('caughtUp'))
  await subscription.unsubscribe()
  await client.appendToStream('a', factEvent())
  await until(() => received.messages.includes('close'))
  t.true(subscription.destroyed)
  t.deepEqual(received, { messages: ['confirmation', 'a 0', 'caughtUp', 'end', 'close'], errors: [] })
})

test.serial(
  't2: kill -9 ends subscriptions with UnavailableError, and the client can resume without a gap',
  async (t) => {
    const { own, client } = await startOwnEventStoreDb(t)
    for (let n = 0; n < 10; n++) await client.appendToStream('a', factEvent())
    const all = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['a'] }) })
    const positions: Position[] = []
    all.on('data', ({ event: found }) => found?.position !== undefined && positions.push(found.position))
    const both = [all, client.subscribeToAll({ filter: streamNameFilter({ regex: '^a$' }) })].map(recordSubscription)
    await until(() =>
      both.every((received) => eventsOf(received).length === 10 && received.messages.includes('caughtUp')))
    await own.kill()
    await until(() => both.every(({ errors }) => errors.length > 0))
    for (const { errors } of both)
      t.deepEqual(errors.map(({ constructor }) => constructor.name), ['UnavailableError'])
    await own.start()
    for (let n = 0; n < 3; n++) await eventually(() => client.appendToStream('a', factEvent()))
    const resumed = recordSubscription(
      client.subscribeToAll({ fromPosition: positions.at(-1) ?? START, filter: streamNameFilter({ prefixes: ['a'] }) }),
    )
    await until(() => resumed.messages.includes('caughtUp') && eventsOf(resumed).length >= 3)
    t.deepEqual(eventsOf(resumed), ['a 10', 'a 11', 'a 12'])
    for (const received of both) t.is(eventsOf(received).length, 10)
  },
)

for (const [name, position] of [
  ['inside a record', { commit: 31n, prepare: 31n }],
  ['no regular expression', null],
] as const)
  test.serial(`t2: an impossible subscription (${name}) ends with UnknownError`, async (t) => {
    const client = await clientOfEmptyLog(t)
    await client.appendToStream('p', factEvent())
    const subscription =
      position === null
        ? client.subscribeToAll({ filter: { filterOn: 'eventType', regex: '(', checkpointInterval: 1 } })
        : client.subscribeToAll({ fromPosition: position })
    const error = await new Promise<Error>((resolve) => subscription.once('error', resolve))
    t.is(error.constructor.name, 'UnknownError')
    t.is(error.message, '2 UNKNOWN: Exception was thrown by handler.')
  })

test.serial(
  't10: a for-await loop throws UnavailableError when the server dies, and a break ends the subscription',
  async (t) => {
    const { own, client } = await startOwnEventStoreDb(t)
    await client.appendToStream('a', [factEvent(), factEvent()])
    const abandoned = client.subscribeToAll()
    for await (const _ of abandoned) break
    await until(() => abandoned.destroyed)
    const waiting = (async () => {
      for await (const _ of client.subscribeToAll({ fromPosition: 'end' })) t.fail('nothing is appended')
    })()
    const [thrown] = await Promise.all([t.throwsAsync(waiting), own.kill()])
    t.true(thrown instanceof UnavailableError, thrown?.constructor.name)
  },
)
