import { END, EventStoreDBClient, jsonEvent, streamNameFilter, UnavailableError } from '@eventstore/db-client'
import test from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import { startDoubleCluster } from '../../support/doubles/eventstoredb/start-cluster.ts'

// A test cannot force these situations on real nodes, so no recording of real nodes covers them. The other situations
// of a cluster are in the recording t24, which eventstoredb-transcripts.test.ts compares.

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    if (!(await condition())) throw new Error(`not yet: ${String(condition)}`)
  })

const credentials = { username: 'admin', password: 'changeit' }

test('an isolated leader stores no write, steps down and follows the new leader after its return', async (t) => {
  const cluster = await startDoubleCluster({
    delays: { electionAfterFreeze: 50, refusalAfterFreeze: 1500, electionAfterReturn: 20 },
  })
  t.teardown(cluster.dispose)
  const old = cluster.leader()
  if (old === undefined) return t.fail()
  const client = EventStoreDBClient.connectionString(`${old.url}&keepAliveInterval=-1`)
  t.teardown(() => client.dispose())
  const received: string[] = []
  const feed = client.subscribeToAll({ fromPosition: END, filter: streamNameFilter({ prefixes: ['a'] }) })
  feed
    .on('data', ({ event }) => received.push(`${event?.streamId}@${event?.revision}`))
    .on('error', (error) => t.fail(error.message))
  await new Promise<void>((resolve) => feed.once('caughtUp', () => resolve()))
  const epoch = await old.epoch()

  old.isolate()
  const next = await eventually(() => {
    const found = cluster.leader()
    if (found === undefined || found === old) throw new Error('there is no new leader')
    return found
  })
  t.true((await next.epoch()) > epoch)
  t.deepEqual([await old.state(), await old.epoch()], ['leader', epoch])
  const there = EventStoreDBClient.connectionString(next.url)
  t.teardown(() => there.dispose())
  await there.appendToStream('a', jsonEvent({ type: 'A', data: {} }), { credentials })
  const timedOut = await t.throwsAsync(
    client.appendToStream('b', jsonEvent({ type: 'B', data: {} }), { credentials, deadline: 300 }),
  )
  t.is(timedOut?.constructor.name, 'DeadlineExceededError')
  t.deepEqual(received, [])

  await until(async () => (await old.state()) === 'unknown')
  const refused = await t.throwsAsync(client.appendToStream('b', jsonEvent({ type: 'B', data: {} }), { credentials }))
  t.true(refused instanceof UnavailableError, refused?.constructor.name)
  old.rejoin()
  await until(() => received.length > 0)
  t.deepEqual(received, ['a@0'])
  t.deepEqual([await old.state(), await old.epoch()], ['follower', await next.epoch()])
})

test('an append without quorum is stored when the quorum returns, and lost after another election', async (t) => {
  const delays = { electionAfterFreeze: 50, electionAfterReturn: 20, refusalAfterFreeze: 60_000, claim: 50 }
  const cluster = await startDoubleCluster({ delays })
  t.teardown(cluster.dispose)
  const [first, second, third] = cluster.nodes
  if (first === undefined || second === undefined || third === undefined) return t.fail()
  const client = EventStoreDBClient.connectionString(`${first.url}&keepAliveInterval=-1`)
  t.teardown(() => client.dispose())
  second.freeze()
  third.freeze()
  const stored = client.appendToStream('a', jsonEvent({ type: 'A', data: {} }), { credentials, deadline: 60_000 })
  await first.ask('GET', '/gossip')
  second.thaw()
  t.is((await stored).nextExpectedRevision, 0n)
  third.thaw()

  first.isolate()
  const lost = client.appendToStream('a', jsonEvent({ type: 'A', data: {} }), { credentials, deadline: 1000 })
  await t.throwsAsync(lost)
  await until(() => ![undefined, first].includes(cluster.leader()))
  first.rejoin()
  const again = await eventually(() => client.appendToStream('a', jsonEvent({ type: 'A', data: {} }), { credentials }))
  t.is(again.nextExpectedRevision, 1n)
})
