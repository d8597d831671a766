import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import {
  WrongExpectedVersionError, type AppendToStreamOptions, type EventStoreDBClient, type JSONEventData,
} from '@eventstore/db-client'
import type { Position, StoredEvent } from '../../../application/ports/event-store.ts'
import { createAppends } from '../../../infrastructure/eventstoredb/appends.ts'
import { createCalls, type Calls } from '../../../infrastructure/eventstoredb/calls.ts'
import { createCallTimeouts } from '../../../infrastructure/eventstoredb/call-timeouts.ts'
import { toPosition } from '../../../infrastructure/eventstoredb/positions.ts'
import { createStreamLimits } from '../../../infrastructure/eventstoredb/stream-limits.ts'
import { newEvent, newEvents, right } from '../event-store-support.ts'
import { dataOf } from '../../support/events/stored-data.ts'

const credentials = { username: 'u', password: 'p' }
const LIMITS = { usual: 60_000, short: 60_000, suspicion: 0, confirmation: 60_000 }
const callsOn = (client: EventStoreDBClient): Calls =>
  createCalls({
    leader: { client: () => client, failed: () => undefined },
    credentials,
    timeouts: createCallTimeouts(LIMITS),
  })
const position = (n: bigint) => ({ commit: n, prepare: n })

interface Sent {
  readonly stream: string
  readonly events: ReadonlyArray<JSONEventData>
  readonly options: AppendToStreamOptions
}

/** Appends through a client that records each call. The stream already contains `existing`. */
const startAppends = (existing: ReadonlyArray<StoredEvent> = []) => {
  const sent: Array<Sent> = []
  const readLimits: Array<number | undefined> = []
  const client = {
    appendToStream: async (stream: string, events: ReadonlyArray<JSONEventData>, options: AppendToStreamOptions) => {
      sent.push({ stream, events, options })
      return { success: true, nextExpectedRevision: BigInt(existing.length), position: position(99n) }
    },
  } as unknown as EventStoreDBClient
  const reads = {
    read: async (_: string, { limit }: { readonly limit?: number } = {}) => {
      readLimits.push(limit)
      return E.right(existing.toReversed().slice(0, limit))
    },
    head: async () => E.right(toPosition(position(1n))),
  }
  return { append: createAppends({ calls: callsOn(client), reads, logger: undefined }), sent, readLimits }
}

const stored = (count: number): ReadonlyArray<StoredEvent> =>
  newEvents(count).map((event, revision) => ({
    ...event,
    stream: 'a',
    revision,
    position: toPosition(position(BigInt(revision))),
    storedAt: 0,
  }))

test('an append with "any" is not sent again when its events are among the last of the stream', async (t) => {
  const existing = stored(30)
  const { append, sent } = startAppends(existing)
  const retried = existing.slice(9, 11).map((event) => ({ ...event, data: dataOf(event) }))
  t.deepEqual(await right(append('a', 'any', retried)), { revision: 10, position: existing[10]?.position as Position })
  t.deepEqual(sent, [])
  const partlyStored = [{ ...(existing[10] as StoredEvent), data: {} }, newEvent()]
  await right(append('a', 'any', partlyStored))
  t.deepEqual(
    sent.map(({ events }) => events.map(({ id }) => id)),
    [partlyStored.map(({ id }) => id)],
    'a partly stored append is sent',
  )
})

test('an append goes only to the leader, with account, expected revision and a server-side deadline', async (t) => {
  const { append, sent } = startAppends()
  await right(append('a', 'no-stream', [newEvent()]))
  await right(append('a', 7, [newEvent()]))
  await right(append('a', 'any', [newEvent()]))
  t.deepEqual(sent.map(({ options }) => options.expectedRevision), ['no_stream', 7n, 'any'])
  for (const { options } of sent) {
    t.deepEqual(options.credentials, credentials)
    t.true(options.requiresLeader)
    t.true(
      (options.deadline ?? 0) > LIMITS.usual && (options.deadline ?? 0) < LIMITS.usual + 2000,
      String(options.deadline),
    )
  }
})

test('an append above the maximum size throws and is not sent', async (t) => {
  const { append, sent } = startAppends()
  const large = { ...newEvent(), data: { text: 'x'.repeat(600_000) } }
  await t.throwsAsync(append('a', 'any', [large, { ...large, id: newEvent().id }]), {
    instanceOf: TypeError,
    message: /is larger than the limit of the event store \(\d+\)/,
  })
  t.deepEqual(sent, [])
  await right(append('a', 'no-stream', [large]))
  t.is(sent.length, 1)
})

test('a wrong revision is returned with the current revision, also for revision 0', async (t) => {
  const actuals = [[0n, 0], [7n, 7], ['no_stream', 'no-stream']] as const
  for (const [actualVersion, actual] of actuals) {
    const client = {
      appendToStream: async () => {
        throw new WrongExpectedVersionError(null as never, { streamName: 'a', current: actualVersion, expected: 5n })
      },
    } as unknown as EventStoreDBClient
    const reads = { read: async () => E.right([]), head: async () => E.right(toPosition(position(1n))) }
    const append = createAppends({ calls: callsOn(client), reads, logger: undefined })
    t.deepEqual(await append('a', 5, [newEvent()]), E.left({ _tag: 'WrongRevision', stream: 'a', actual }))
  }
})

/** Stream limits on a client. Another process changes the metadata before each of the first `foreignChanges` writes. */
const startLimits = (foreignChanges: number) => {
  let revision = 0n
  let members: Readonly<Record<string, unknown>> = { $tb: 12, $maxCount: 3, custom: 'a' }
  let changesLeft = foreignChanges
  const client = {
    readStream: () => {
      const event = { data: members, revision }
      const found = [{ event }]
      return Object.assign(
        (async function* () {
          yield* found
        })(),
        { on: () => undefined, destroy: () => undefined, readableEnded: true },
      )
    },
    setStreamMetadata: async (_: string, metadata: object, { expectedRevision }: AppendToStreamOptions) => {
      if (changesLeft > 0) {
        changesLeft -= 1
        revision += 1n
        members = { ...members, since: Number(revision) }
      }
      if (expectedRevision !== revision)
        throw new WrongExpectedVersionError(null as never, { streamName: '$$a', current: revision, expected: 0n })
      revision += 1n
      members = { ...metadata }
    },
  } as unknown as EventStoreDBClient
  return { ...createStreamLimits({ calls: callsOn(client), logger: undefined }), members: () => members }
}

test('setting the limits of a stream keeps concurrent changes', async (t) => {
  const { setMetadata, members } = startLimits(2)
  await right(setMetadata('a', { maxAgeSeconds: 60 }))
  t.deepEqual(members(), { $tb: 12, custom: 'a', since: 2, maxAge: 60 })
})

test('limits of a stream that changes constantly are refused, not lost', async (t) => {
  const { setMetadata, members } = startLimits(10)
  t.like(await setMetadata('a', { maxCount: 1 }), { left: { _tag: 'StoreUnavailable' } })
  t.is(members()['maxCount'], undefined)
})
