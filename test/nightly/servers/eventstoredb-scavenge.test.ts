/**
 * A scavenge of EventStoreDB removes deleted records from its files, also records at which projections resume. These
 * tests on a real EventStoreDB show that no projection loses an event, and that long streams stay readable without the
 * snapshots that are removed.
 * Needs the folder of the server: STENOLOG_TEST_EVENTSTORE_BIN.
 */
import { Readable } from 'node:stream'
import { EventStoreDBClient } from '@eventstore/db-client'
import test, { type ExecutionContext } from 'ava'
import { deleteSnapshots } from '../../../application/log/states/stream-snapshots.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import {
  BEGINNING, type EventStore, type Position, type SubscriptionMessage,
} from '../../../application/ports/event-store.ts'
import { MAX_PROFILES } from '../../../domain/profiles/decider.ts'
import { snapshotStream } from '../../../domain/shared/snapshot.ts'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { createCallTimeouts } from '../../../infrastructure/eventstoredb/call-timeouts.ts'
import { createSubscriptions } from '../../../infrastructure/eventstoredb/subscriptions.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { differencesOf, foldLog } from '../../../projections/fold-log.ts'
import { startProjector } from '../../../projections/projector.ts'
import { SINGLE_PROCESS_LEASES } from '../../support/worlds/single-process-leases.ts'
import { caughtUp, right, take } from '../../contract/event-store-support.ts'
import { PATIENT_LIMITS, patientUrl } from '../../support/stores/eventstoredb-patience.ts'
import { EVENTSTORE_FOLDER } from '../../support/stores/chosen-stores.ts'
import { startEventStoreServer, type EventStoreServer } from '../../support/stores/eventstoredb-server/start.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { silentLogger } from '../../support/doubles/loggers.ts'
import { rightOf } from '../../support/tools/right.ts'
import { after } from '../../support/events/sample-events.ts'
import { envelopeOf, sealedLive } from '../../support/events/stored-events.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { changedProfiles, changedSession, PROFILES_STREAM } from '../../support/worlds/long-streams.ts'

const CHUNK = 4 * 1024 * 1024
const environment = createTestEnvironment()
const neverAborted = new AbortController().signal
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(0) }

interface Plain {
  readonly type: string
  readonly data: object
}

const appendTo = async (store: EventStore, stream: string, events: ReadonlyArray<Plain>): Promise<Position> => {
  const newEvents = events.map(({ type, data }) => ({ id: environment.newId(), type, data: { ...data }, metadata }))
  return (await rightOf(store.append(stream, 'any', newEvents))).position
}

/** The number of streams with deleted text. */
let texts = 0

const writeDeletedText = async (store: EventStore, kilobytes: number): Promise<void> => {
  const stream = `segments-${(texts += 1)}`
  const text = { type: 'Text', data: { text: 'x'.repeat(50_000) } }
  await appendTo(store, stream, Array.from({ length: kilobytes / 50 }, () => text))
  await rightOf(store.deleteStream(stream))
}

/** Fills the current chunk with deleted text, so a scavenge includes all earlier events. */
const fillChunk = async (store: EventStore): Promise<void> => {
  for (let bytes = 0; bytes < CHUNK + 1_000_000; bytes += 750_000) await writeDeletedText(store, 750)
}

/**
 * Writes random events of the service. Events of tokens and sessions stay, streams of token uses keep one event, and
 * text is deleted. So a scavenge removes events all over the log. It is EventStoreDB's removal of deleted events.
 */
const createWriter = (store: EventStore, random: () => number) => {
  let [lives, tokens, uses] = [0, 0, 0]
  const user = () => ({ userId: 1, at: after((uses += 1)) })
  const use = (tokenId: number): Promise<Position> =>
    appendTo(store, `token-use-${tokenId}`, [{ type: 'ApiTokenUsed', data: { tokenId, ...user() } }])
  const issue = async (): Promise<Position> => {
    const tokenId = (tokens += 1)
    await rightOf(store.setMetadata(`token-use-${tokenId}`, { maxCount: 1 }))
    const data = { tokenId, ...user(), name: envelopeOf('ci'), prefix: 'lt_abc', secretHash: 'h', expiresAt: null }
    return await appendTo(store, `api-token-${tokenId}`, [{ type: 'ApiTokenIssued', data }])
  }
  const rename = (tokenId: number): Promise<Position> =>
    appendTo(store, `api-token-${tokenId}`, [
      { type: 'ApiTokenRenamed', data: { tokenId, ...user(), name: envelopeOf(`name ${uses}`) } },
    ])
  const create = (): Promise<Position> => {
    const liveId = (lives += 1)
    const finished = { type: 'LiveFinished', data: { liveId, ...user(), reason: 'sender_closed' } }
    return appendTo(store, `live-${liveId}`, [sealedLive({ liveId, ...user() }), ...(random() < 0.5 ? [finished] : [])])
  }
  return {
    issue,
    use,
    rename,
    lives: () => lives,
    /** Makes one random write. */
    write: async (): Promise<void> => {
      const chance = random()
      if (chance < 0.05 || tokens === 0) await issue()
      else if (chance < 0.1) await rename(tokens)
      else if (chance < 0.2) await create()
      else if (chance < 0.25) await writeDeletedText(store, 100)
      else await use(1 + Math.floor(random() * Math.min(tokens, 3)))
    },
    /** Fills the current chunk. Ends with a session. */
    fill: async (): Promise<Position> => {
      await fillChunk(store)
      return await create()
    },
  }
}

/** Scavenges the first node of a real server and waits for the end. */
const scavenge = async ({ nodes: [node] }: EventStoreServer): Promise<void> => {
  await node?.ask('POST', '/admin/scavenge?threshold=-1')
  await eventually(async () => {
    const { text } = (await node?.ask('GET', '/admin/scavenge/current')) ?? { text: 'no node' }
    if (text !== 'ScavengeId: , ScavengeLink: ') throw new Error(`the scavenge still runs: ${text}`)
  }, { timeoutMs: 120_000 })
}

const serial = EVENTSTORE_FOLDER !== undefined ? test.serial : test.serial.skip

const ROUNDS = 10
/** Number of sets of read models that are stopped and started separately. */
const READERS = 4
/** Number of positions from which each round resumes a subscription. */
const RESUMES_PER_ROUND = 40
/** Creates read models of all projections. They can be stopped and started again. */
const createReader = (t: ExecutionContext, store: EventStore) => {
  const documents: Documents = createMemoryDocuments()
  let running: { readonly ending: AbortController; readonly projector: ReturnType<typeof startProjector> } | null = null
  const stop = async (): Promise<void> => {
    running?.ending.abort()
    await running?.projector.stopped
    running = null
  }
  t.teardown(stop)
  return {
    documents,
    stop,
    start: (from: EventStore = store) => {
      const ending = new AbortController()
      const deps = {
        store: from,
        documents,
        projections: allProjections,
        leases: SINGLE_PROCESS_LEASES,
        code: 'test',
        logger: silentLogger,
        environment,
        timers: systemTimers,
      }
      running ??= { ending, projector: startProjector({ ...deps, signal: ending.signal }) }
    },
    reached: (position: Position) =>
      eventually(() => {
        const lagging = running?.projector.lag().filter((lag) => lag.position < position)
        if (lagging === undefined || lagging.length > 0) throw new Error(`not reached yet: ${JSON.stringify(lagging)}`)
      }, { timeoutMs: 120_000 }),
  }
}

type Reader = ReturnType<typeof createReader>

/** Lists the differences between the read models and a fold of the whole log. */
const differences = async (
  store: EventStore,
  { documents }: Pick<Reader, 'documents'>,
): Promise<ReadonlyArray<string>> => {
  const scratch = createMemoryDocuments()
  const found: string[] = []
  for (const projection of allProjections) {
    const collection = projection.collection.name
    await right(scratch.ensure([projection.collection]))
    await foldLog({ store, documents: scratch }, projection, {
      from: { position: BEGINNING, last: null },
      to: await right(store.head()),
      signal: neverAborted,
    })
    for await (const { id, kind } of differencesOf({ documents, collection }, { documents: scratch, collection }))
      found.push(`${collection} ${id} ${kind}`)
  }
  return found
}

const PREFIXES = [...new Set(allProjections.flatMap(({ prefixes }) => prefixes))]

const readUntilCaughtUp = (store: EventStore, from: Position): Promise<ReadonlyArray<SubscriptionMessage>> =>
  take(store.subscribe(from, PREFIXES, neverAborted), caughtUp)

const positionOf = (message: SubscriptionMessage): Position =>
  message.kind === 'event' ? message.event.position : message.position

const eventPositions = (messages: ReadonlyArray<SubscriptionMessage>): ReadonlyArray<Position> =>
  messages.flatMap((message) => (message.kind === 'event' ? [message.event.position] : []))

const startServer = async (t: ExecutionContext) => {
  const server = await startEventStoreServer({ nodes: 1, args: [`--chunk-size=${CHUNK}`] })
  t.teardown(server.dispose)
  const store = await openEventStoreDb({ url: patientUrl(server.url), limits: PATIENT_LIMITS })
  t.teardown(store.close)
  /** Removes from the files what is deleted or beyond a limit now. */
  const scavengeAll = async (): Promise<void> => {
    await fillChunk(store)
    await scavenge(server)
  }
  return { server, store, scavengeAll }
}

serial('projections that stop and start during scavenges lose no event', async (t) => {
  t.timeout(30 * 60_000)
  const chance = chanceOf(t)
  const { server, store } = await startServer(t)
  const writer = createWriter(store, chance.random('writer'))
  const readers = Array.from({ length: READERS }, () => createReader(t, store))
  const pick = chance.random('places')
  let [writes, resumed, scavenged] = [0, 0, 0]
  let writingEnd = new AbortController()
  /** Waits for a random number of writes. */
  const afterSomeWrites = async (random: () => number): Promise<void> => {
    const goal = writes + Math.floor(random() * 60)
    await eventually(() => {
      if (writes < goal && !writingEnd.signal.aborted) throw new Error('the writer is slow')
    }, { timeoutMs: 120_000 })
  }
  const write = async (): Promise<void> => {
    for (; !writingEnd.signal.aborted; writes++) await writer.write()
  }
  for (const [round, random] of Array.from({ length: ROUNDS }, (_, n) => [n, chance.random(`round ${n}`)] as const)) {
    writingEnd = new AbortController()
    const writing = write()
    for (const reader of readers) {
      reader.start()
      await afterSomeWrites(random)
    }
    const resumePoints = (await readUntilCaughtUp(store, BEGINNING)).map(positionOf)
    for (const reader of readers) {
      await afterSomeWrites(random)
      await reader.stop()
    }
    await writer.fill()
    const scavenging = scavenge(server)
    for (const reader of readers) {
      await afterSomeWrites(random)
      reader.start()
      await afterSomeWrites(random)
      await reader.stop()
      reader.start()
    }
    await scavenging
    writingEnd.abort()
    await writing
    const end = await writer.fill()
    await scavenge(server)
    for (const reader of readers) await reader.reached(end)

    const whole = eventPositions(await readUntilCaughtUp(store, BEGINNING))
    for (let n = 0; n < RESUMES_PER_ROUND; n++) {
      const resumePoint = resumePoints[Math.floor(pick() * resumePoints.length)] ?? BEGINNING
      t.deepEqual(
        eventPositions(await readUntilCaughtUp(store, resumePoint)),
        whole.filter((position) => position > resumePoint),
        `round ${round}, from ${resumePoint}`,
      )
      resumed += 1
      if (!whole.includes(resumePoint)) scavenged += 1
    }
    for (const reader of readers) t.deepEqual(await differences(store, reader), [], `round ${round}`)
  }
  const streams = new Set<string>()
  for (const message of await readUntilCaughtUp(store, BEGINNING))
    if (message.kind === 'event') streams.add(message.event.stream)
  t.is([...streams].filter((stream) => stream.startsWith('live-')).length, writer.lives())
  t.log(
    `${writes} writes in ${streams.size} streams; resumed at ${resumed} positions, ` +
      `${scavenged} of them of removed records`,
  )
})

serial('a scavenge between the backward read and the subscription loses no event', async (t) => {
  t.timeout(5 * 60_000)
  const { server, store } = await startServer(t)
  const writer = createWriter(store, () => 0.9)
  const reader = createReader(t, store)
  await writer.issue()
  reader.start()
  for (let n = 0; n < 5; n++) await writer.use(1)
  await reader.reached(await writer.use(1))
  await reader.stop()
  // The scavenge removes the record of the checkpoint and the record before it.
  await writer.rename(1)
  await writer.fill()
  await writer.use(1)

  const client = EventStoreDBClient.connectionString(patientUrl(server.url))
  t.teardown(() => client.dispose())
  let scavenging: Promise<void> | null = null
  let backwardReads = 0
  /** Delays the answer of a backward read until a scavenge has run. */
  const readBackwards = (...args: Parameters<EventStoreDBClient['readAll']>): unknown => {
    backwardReads += 1
    const answer = async function* () {
      const records: unknown[] = []
      for await (const record of client.readAll(...args) as AsyncIterable<unknown>) records.push(record)
      await (scavenging ??= scavenge(server))
      yield* records
    }
    return Object.assign(Readable.from(answer()), { cancel: async () => undefined })
  }
  const slowClient = new Proxy(client, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'readAll') return readBackwards
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
  const connected = { client: () => slowClient, lost: () => neverAborted }
  reader.start({
    ...store,
    subscribe: createSubscriptions({ connected, timeouts: createCallTimeouts(PATIENT_LIMITS), head: store.head }),
  })
  await reader.reached(await writer.issue())
  t.true(backwardReads > 1)
  t.deepEqual(await differences(store, reader), [])
})

serial('after a scavenge a process reads a long stream from its newest snapshot', async (t) => {
  t.timeout(5 * 60_000)
  const { store, scavengeAll } = await startServer(t)
  const writer = await changedProfiles({ store, keyring: createMemoryKeyring() }, 200)
  const inFiles = async () =>
    eventPositions(await take(store.subscribe(BEGINNING, ['snapshot-'], neverAborted), caughtUp))
  t.true((await inFiles()).length > 10)
  await scavengeAll()
  t.is((await inFiles()).length, 2, 'the older snapshots were removed')

  const started = writer.restart()
  const read = await started.reads(() => right(started.change(201)))
  t.true(read < 40, `${read} events were read`)
  t.deepEqual(await started.load(), await writer.loadWhole())
  t.deepEqual(await writer.load(), await started.load())
})

serial('snapshots that a scavenge removed cost only a longer read', async (t) => {
  t.timeout(10 * 60_000)
  const { store, scavengeAll } = await startServer(t)
  const snapshots = snapshotStream(PROFILES_STREAM)
  const writer = await changedProfiles({ store, keyring: createMemoryKeyring() }, 1)
  for (let id = 2; id <= MAX_PROFILES; id++) await right(writer.add(id))
  for (let id = 1; id <= MAX_PROFILES; id++) await right(writer.change(id, id))
  const removals = [
    ['a part of the newest snapshot', () => store.setMetadata(snapshots, { maxCount: 1 })],
    ['all snapshots', () => deleteSnapshots(store, PROFILES_STREAM)],
  ] as const
  for (const [removed, remove] of removals) {
    for (let each = 1; each <= 500; each++) await right(writer.change(each))
    t.true((await right(store.read(snapshots))).length > 1)
    await right(remove())
    await scavengeAll()
    const [first, second] = [writer.restart(), writer.restart()]
    t.true(await first.reads(() => first.load()) > 500, removed)
    t.deepEqual(await first.load(), await writer.loadWhole(), removed)
    await first.deps.states.snapshots.idle()
    t.true(await second.reads(() => second.load()) < 40, `${removed}: the first read has saved another`)
    t.deepEqual(await second.load(), await writer.loadWhole(), removed)
  }
})

serial('the history of a session is the same after a scavenge, with and without its snapshots', async (t) => {
  t.timeout(5 * 60_000)
  const { store, scavengeAll } = await startServer(t)
  const { entry } = await changedSession(store, 200)
  const snapshots = snapshotStream('live-1')
  const assertHistory = async (removed: string, mostEvents: number): Promise<void> => {
    for (const id of [1, 2, 17, 123, 202]) {
      const { prompt, read } = await entry(id)
      t.is(prompt, id <= 2 ? undefined : `prompt ${id - 2}`, `${removed} are gone, entry ${id}`)
      t.true(read < mostEvents, `${removed} are gone, entry ${id}: ${read} events were read`)
    }
  }
  await scavengeAll()
  await assertHistory('no snapshots', 80)
  await right(store.setMetadata(snapshots, { maxCount: 2 }))
  await scavengeAll()
  await assertHistory('older snapshots', 500)
  await right(store.deleteStream(snapshots))
  await scavengeAll()
  await assertHistory('all snapshots', 500)
})
