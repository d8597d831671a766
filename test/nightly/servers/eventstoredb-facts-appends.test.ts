import { randomUUID } from 'node:crypto'
import {
  ANY, NO_STREAM, STREAM_EXISTS, streamNameFilter, UnavailableError, WrongExpectedVersionError,
  type AppendResult, type EventStoreDBClient, type Position,
} from '@eventstore/db-client'
import test from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import {
  clientOfEmptyLog, eventsOf, factEvent, recordSubscription, startOwnEventStoreDb, until,
} from '../../support/stores/eventstoredb-clients.ts'

// These tests state facts about appends and positions that the recordings t2, t10 and t11 of a real EventStoreDB show.
// They run on the double (a server that imitates EventStoreDB), or on a real server when one is configured.

const CREDENTIALS = { username: 'x', password: 'y' }

test.serial('t2: without a server appends fail at once with UnavailableError', async (t) => {
  const { own, client } = await startOwnEventStoreDb(t)
  await client.appendToStream('a', factEvent())
  await own.kill()
  const failure = await t.throwsAsync(client.appendToStream('a', factEvent(), { credentials: CREDENTIALS }))
  t.true(failure instanceof UnavailableError, failure?.constructor.name)
  await own.start()
  t.is(
    (await eventually(() => client.appendToStream('a', factEvent(), { credentials: CREDENTIALS })))
      .nextExpectedRevision,
    1n,
  )
})

/** Waits for appends that were sent together. Separates their results from their errors. */
const outcomesOf = async (appends: ReadonlyArray<Promise<AppendResult>>) => {
  const settled = await Promise.allSettled(appends)
  return {
    done: settled.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    failed: settled.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : [])),
  }
}

const revisionsOf = async (client: EventStoreDBClient, stream: string): Promise<ReadonlyArray<bigint | undefined>> => {
  const found: Array<bigint | undefined> = []
  for await (const resolved of client.readStream(stream)) found.push(resolved.event?.revision)
  return found
}

test.serial('t10: of twenty appends that create a stream, nineteen fail with WrongExpectedVersionError', async (t) => {
  const client = await clientOfEmptyLog(t)
  const { done, failed } = await outcomesOf(
    Array.from({ length: 20 }, () => client.appendToStream('race', factEvent(), { expectedRevision: NO_STREAM })),
  )
  t.is(done.length, 1)
  t.is(failed.length, 19)
  t.true(failed.every((error) => error instanceof WrongExpectedVersionError))
  t.deepEqual(await revisionsOf(client, 'race'), [0n])
})

// With credentials the client sends each append in a call of its own, like that of the service.
for (const expectedRevision of [NO_STREAM, ANY] as const)
  test.serial(`t10, t11: twenty appends of one event store it once (${expectedRevision})`, async (t) => {
    const client = await clientOfEmptyLog(t)
    const id = randomUUID()
    const append = (): Promise<AppendResult> =>
      client.appendToStream('race', factEvent(id), { expectedRevision, credentials: CREDENTIALS })
    const { done } = await outcomesOf(Array.from({ length: 20 }, append))
    t.true(done.length > 0)
    t.deepEqual(await revisionsOf(client, 'race'), [0n])
    for (const answer of [...done, await append()]) t.is(answer.nextExpectedRevision, 0n)
  })

/** Appends an event with each expected revision. Returns a function that retries them. */
const prepareRetries = async (client: EventStoreDBClient): Promise<() => Promise<ReadonlyArray<bigint>>> => {
  const sent = ([ANY, STREAM_EXISTS, NO_STREAM] as const).map((expectedRevision) => ({
    expectedRevision,
    id: randomUUID(),
  }))
  await client.appendToStream(STREAM_EXISTS, factEvent())
  const appendAll = async (): Promise<ReadonlyArray<bigint>> => {
    const revisions: bigint[] = []
    for (const { expectedRevision, id } of sent)
      revisions.push(
        (await client.appendToStream(expectedRevision, factEvent(id), { expectedRevision })).nextExpectedRevision,
      )
    return revisions
  }
  await appendAll()
  return appendAll
}

test.serial(
  't10: retries without expected revision are recognised after 20,000 events, not after 80,000',
  async (t) => {
    t.timeout(600_000)
    const client = await clientOfEmptyLog(t)
    const retryAll = await prepareRetries(client)
    // The server remembers the ids and stream names of recent events in 8 MB, so long names fill this memory faster.
    const padding = 'x'.repeat(60)
    const fill = async (count: number): Promise<void> => {
      const appends = Array.from({ length: 8 }, async (_, stream) => {
        for (let n = 0; n < count / 8; n += 500)
          await client.appendToStream(
            `fill${stream}${padding}`,
            Array.from({ length: 500 }, () => factEvent()),
          )
      })
      await Promise.all(appends)
    }
    t.deepEqual(await retryAll(), [0n, 1n, 0n])
    await fill(20_000)
    t.deepEqual(await retryAll(), [0n, 1n, 0n])
    await fill(60_000)
    t.deepEqual(await retryAll(), [1n, 2n, 0n])
  },
)

test.serial('t10, t11: after a restart the server recognises only retries with an expected revision', async (t) => {
  const { own, client } = await startOwnEventStoreDb(t)
  const retryAll = await prepareRetries(client)
  t.deepEqual(await retryAll(), [0n, 1n, 0n])
  await own.kill()
  await own.start()
  await eventually(() => client.appendToStream('w', factEvent()))
  t.deepEqual(await retryAll(), [1n, 2n, 0n])
})

test.serial(
  't11: an append returns the position of its last event, and a subscription from there skips it',
  async (t) => {
    const client = await clientOfEmptyLog(t)
    const { position } = await client.appendToStream('p', [factEvent(), factEvent(), factEvent()])
    const streamPositions: Array<Position | undefined> = []
    for await (const resolved of client.readStream('p')) streamPositions.push(resolved.event?.position)
    t.deepEqual(streamPositions.at(-1), position)
    const allPositions: Array<Position | undefined> = []
    for await (const { event } of client.readAll()) if (event?.streamId === 'p') allPositions.push(event.position)
    t.deepEqual(allPositions, streamPositions)
    const commits = streamPositions.map((streamPosition) => Number(streamPosition?.commit))
    t.deepEqual(commits, [...new Set(commits)].toSorted((a, b) => a - b))
    if (position === undefined) return t.fail()
    const received = recordSubscription(client.subscribeToAll({ fromPosition: position }))
    await until(() => received.messages.includes('caughtUp'))
    await client.appendToStream('q', factEvent())
    await until(() => eventsOf(received).length > 0)
    t.deepEqual(eventsOf(received), ['q 0'])
  },
)

test.serial('t11: readAll ignores a filter', async (t) => {
  const client = await clientOfEmptyLog(t)
  await client.appendToStream('p', factEvent())
  await client.appendToStream('q', factEvent())
  const streams: Array<string | undefined> = []
  const options = { maxCount: 5, filter: streamNameFilter({ prefixes: ['p'] }) }
  for await (const resolved of client.readAll(options)) streams.push(resolved.event?.streamId)
  t.deepEqual(streams, ['$$$scavenges', 'p', 'q'])
})
