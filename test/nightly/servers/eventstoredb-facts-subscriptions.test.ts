import {
  eventTypeFilter, excludeSystemEvents, streamNameFilter, type EventStoreDBClient, type Position,
} from '@eventstore/db-client'
import test from 'ava'
import {
  clientOfEmptyLog, eventsOf, factEvent, recordSubscription, until,
} from '../../support/stores/eventstoredb-clients.ts'

// These tests state facts about subscriptions that the recordings t2, t2b, t10 and t11 of a real EventStoreDB show.
// They run on the double (a server that imitates EventStoreDB), or on a real server when one is configured.

/** Appends the events of the recording t2: 50 events of two types in five streams, and 200 other events. */
const fillAsT2 = async (client: EventStoreDBClient): Promise<void> => {
  for (let n = 0; n < 50; n++)
    await client.appendToStream(`acct-${n % 5}`, factEvent(undefined, n % 2 === 0 ? 'Even' : 'Odd'))
  for (let n = 0; n < 200; n++) await client.appendToStream(`noise-${n % 5}`, factEvent(undefined, 'Noise'))
}

test.serial('t2: every kind of subscription is confirmed, delivers its events and catches up once', async (t) => {
  const client = await clientOfEmptyLog(t)
  await fillAsT2(client)
  const subscriptions = [
    ['prefix', 50, client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['acct-'] }) })],
    ['regex', 25, client.subscribeToAll({ filter: eventTypeFilter({ regex: '^Odd$' }) })],
    ['no system events', 250, client.subscribeToAll({ filter: excludeSystemEvents() })],
  ] as const
  for (const [name, wanted, received] of subscriptions.map(
    ([name, wanted, subscription]) => [name, wanted, recordSubscription(subscription)] as const,
  )) {
    await until(() => received.messages.includes('caughtUp') && eventsOf(received).length >= wanted)
    t.is(eventsOf(received).length, wanted, name)
    t.is(received.messages[0], 'confirmation', name)
    t.is(received.messages.filter((message) => message === 'caughtUp').length, 1, name)
    t.deepEqual(received.errors, [])
  }
})

test.serial(
  't2: new events reach matching subscriptions, and a subscription from the end gets only them',
  async (t) => {
    const client = await clientOfEmptyLog(t)
    await fillAsT2(client)
    const filter = streamNameFilter({ prefixes: ['acct-'] })
    const [all, fromEnd] = [
      recordSubscription(client.subscribeToAll({ filter })),
      recordSubscription(client.subscribeToAll({ fromPosition: 'end', filter })),
    ]
    await until(() => all.messages.includes('caughtUp') && fromEnd.messages.includes('caughtUp'))
    t.deepEqual(fromEnd.messages, ['confirmation', 'caughtUp'])
    await client.appendToStream('noise-0', factEvent())
    await client.appendToStream('acct-0', factEvent())
    await until(() => eventsOf(all).length === 51 && eventsOf(fromEnd).length === 1)
    t.is(eventsOf(all).at(-1), 'acct-0 10')
    t.deepEqual(eventsOf(fromEnd), ['acct-0 10'])
  },
)

test.serial(
  't2: checkpoints arrive while catching up, with prepare position 0, and later without matching events',
  async (t) => {
    const client = await clientOfEmptyLog(t)
    await fillAsT2(client)
    const checkpoints: Position[] = []
    const checkpointReached = (_: unknown, position: Position): void => void checkpoints.push(position)
    const received = recordSubscription(
      client.subscribeToAll({
        filter: streamNameFilter({ prefixes: ['acct-'], checkpointInterval: 1, checkpointReached }),
      }),
    )
    await until(() => received.messages.includes('caughtUp'))
    t.true(checkpoints.some(({ prepare }) => prepare === 0n))
    const before = checkpoints.length
    t.true(before > 1)
    for (let n = 0; n < 100; n++) await client.appendToStream('noise-0', factEvent())
    await until(() => checkpoints.length > before)
    t.true(checkpoints.slice(before).every(({ commit, prepare }) => commit === prepare))
    const commits = checkpoints.map(({ commit }) => commit)
    t.deepEqual(commits, commits.toSorted((a, b) => Number(a - b)))
    t.is(eventsOf(received).length, 50)
  },
)

test.serial('t2: a subscription resumes from any checkpoint or event without a gap or a repeat', async (t) => {
  const client = await clientOfEmptyLog(t)
  for (let n = 0; n < 40; n++) {
    await client.appendToStream('ck', factEvent())
    await client.appendToStream('noise', Array.from({ length: 5 }, () => factEvent()))
  }
  const prefixes = ['ck']
  const seen: Position[] = []
  const checkpoints: Array<{ readonly position: Position; readonly after: number }> = []
  const checkpointReached = (_: unknown, position: Position): void =>
    void checkpoints.push({ position, after: seen.length })
  const whole = client.subscribeToAll({
    filter: streamNameFilter({ prefixes, checkpointInterval: 1, checkpointReached }),
  })
  whole.on('data', ({ event: found }) => found?.position !== undefined && seen.push(found.position))
  const received = recordSubscription(whole)
  await until(() => received.messages.includes('caughtUp') && seen.length === 40)
  await whole.unsubscribe()
  t.true(checkpoints.length > 3)
  const starts = [...checkpoints, ...seen.flatMap((position, n) => (n % 7 === 0 ? [{ position, after: n + 1 }] : []))]
  for (const { position, after } of starts) {
    const rest = client.subscribeToAll({ fromPosition: position, filter: streamNameFilter({ prefixes }) })
    const delivered = recordSubscription(rest)
    await until(() => delivered.messages.includes('caughtUp') && eventsOf(delivered).length >= 40 - after)
    t.deepEqual(
      eventsOf(delivered),
      Array.from({ length: 40 - after }, (_, n) => `ck ${after + n}`),
      `from ${position.commit}/${position.prepare}`,
    )
    await rest.unsubscribe()
  }
})

test.serial('t2: the message caughtUp can arrive while a slow consumer still reads earlier events', async (t) => {
  const client = await clientOfEmptyLog(t)
  for (let n = 0; n < 40; n++) await client.appendToStream('a', factEvent())
  const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['a'] }) })
  const caughtUp = new Promise<void>((resolve) => subscription.once('caughtUp', () => resolve()))
  let taken = 0
  for await (const _ of subscription) {
    taken += 1
    // The other ten events wait in the buffer of the client, which holds sixteen.
    if (taken === 30) await caughtUp
    if (taken === 40) break
  }
  t.is(taken, 40)
})

test.serial(
  't2: a subscription can start past the end of the log',
  async (t) => {
    const client = await clientOfEmptyLog(t)
    await client.appendToStream('a', [factEvent(), factEvent(), factEvent()])
    const beyond = recordSubscription(
      client.subscribeToAll({ fromPosition: { commit: 99_999_999_999n, prepare: 99_999_999_999n } }),
    )
    await until(() => beyond.messages.includes('caughtUp'))
    t.deepEqual(beyond.errors, [])
  },
)
