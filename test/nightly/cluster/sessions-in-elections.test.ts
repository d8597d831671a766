/**
 * Sessions of a cluster during elections of MongoDB and EventStoreDB. `STENOLOG_TEST_ELECTIONS=10` runs ten of
 * each kind (1 without it). Elections of EventStoreDB need a real server with three nodes: STENOLOG_TEST_EVENTSTORE_BIN
 * and STENOLOG_TEST_EVENTSTORE_NODES=3.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { ADMISSION_STREAM } from '../../../domain/admission/events.ts'
import { EVENTSTORE_FOLDER, EVENTSTORE_NODES } from '../../support/stores/chosen-stores.ts'
import type { LiveJson } from '../../support/service/client.ts'
import type { Cluster } from '../../support/cluster/cluster.ts'
import {
  listenTo,
  longestSilence,
  sendWords,
  speakerAt,
  storedNumbers,
  upTo,
} from '../../support/cluster/numbered-session.ts'
import { startSplitCluster } from '../../support/cluster/split-cluster.ts'
import { eventually } from '../../support/tools/eventually.ts'
import type { EventStoreNode } from '../../support/stores/eventstoredb-server/node.ts'

const ROUNDS = Number(process.env['STENOLOG_TEST_ELECTIONS'] ?? 1)
const PATIENT = { timeoutMs: 180_000 }
/** Number of sessions: enough for each of the two workers to run at least one. */
const LIVES = 4
/** Number of words in a session. */
const WORDS = 90
/** The election begins when each listener has this many final words. */
const WORDS_BEFORE_ELECTION = 10
/** The default time in which MongoDB notices a lost primary and elects another, in milliseconds. */
const ELECTION_MS = 12_000

/** Causes an election. Resolves after it, with a function that heals all members. */
type Election = (cluster: Cluster) => Promise<() => Promise<unknown>>

const electsInMongo =
  (
    turn: (primary: number) => Parameters<Cluster['mongo']['turn']>[0],
    heal: (old: number) => Parameters<Cluster['mongo']['turn']>[0] | null,
  ): Election =>
  async ({ mongo }) => {
    const { primary: old } = await mongo.state()
    assert.ok(old !== null)
    await mongo.turn(turn(old))
    await eventually(async () => assert.ok(![null, old].includes((await mongo.state()).primary)), PATIENT)
    const healing = heal(old)
    return async () => (healing === null ? undefined : mongo.turn(healing))
  }

const MONGODB_ELECTIONS: Readonly<Record<string, Election>> = {
  'the primary of MongoDB steps down': electsInMongo(
    () => ({ turn: 'step-down', electionMs: ELECTION_MS }),
    () => null,
  ),
  'the primary of MongoDB is killed': electsInMongo(
    (member) => ({ turn: 'stop', member, electionMs: ELECTION_MS }),
    (member) => ({ turn: 'start', member }),
  ),
  'the primary of MongoDB is frozen': electsInMongo(
    (member) => ({ turn: 'freeze', member, electionMs: ELECTION_MS }),
    (member) => ({ turn: 'thaw', member, claimMs: 500 }),
  ),
}

const electsInEventStore =
  (begin: (leader: EventStoreNode) => unknown, heal: (leader: EventStoreNode) => unknown): Election =>
  async ({ eventStore: { server } }) => {
    assert.ok(server !== null)
    const old = await server.leader()
    assert.ok(old !== undefined)
    const epoch = await old.epoch()
    await begin(old)
    await eventually(async () => {
      const next = await server.leader()
      assert.ok(next !== undefined && (await next.epoch()) > epoch)
    }, PATIENT)
    return async () => {
      await heal(old)
      await server.untilHealthy()
    }
  }

const EVENTSTOREDB_ELECTIONS: Readonly<Record<string, Election>> = {
  'the leader of EventStoreDB resigns': electsInEventStore((leader) => leader.resign(), () => undefined),
  'the leader of EventStoreDB is killed': electsInEventStore((leader) => leader.kill(), (leader) => leader.start()),
  'the leader of EventStoreDB is frozen': electsInEventStore((leader) => leader.freeze(), async (leader) => {
    // A leader that wakes this late ends itself, because the other nodes already follow the new leader.
    await delay(ELECTION_MS)
    leader.thaw()
  }),
}

/** Reads from the log the moves of a session between workers and the type of its last event. */
const courseOf = async ({ read }: Cluster, { id }: LiveJson) => {
  const admissionTypes = (await read(ADMISSION_STREAM))
    .filter(({ data }) => (data as { readonly liveId?: number }).liveId === id)
    .map(({ type }) => type)
  const liveTypes = (await read(`live-${id}`)).map(({ type }) => type)
  return {
    moves: [...admissionTypes, ...liveTypes].filter((type) => ['Moved', 'LiveTakenOver'].includes(type)),
    last: liveTypes.at(-1),
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const survivesElection = (isReplicaSet: boolean, run: Election) => async (t: ExecutionContext): Promise<void> => {
  t.timeout(10 * 60_000 * ROUNDS)
  const cluster = await startSplitCluster(t, {}, { isReplicaSet })
  const [one, two] = cluster.apis
  const speaker = await speakerAt(one.url())
  const workersBefore = await cluster.workers()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const sessions = await Promise.all(Array.from({ length: LIVES }, async () => {
      const live = await speaker.createLive({ live_retention: true })
      const listeners = [listenTo(live, [one.url]), listenTo(live, [two.url])]
      return { live, listeners, sender: await sendWords(one.url(), live, WORDS) }
    }))
    const listeners = sessions.flatMap((session) => session.listeners)
    const haveWords = (): boolean => listeners.every(({ finals }) => finals().length >= WORDS_BEFORE_ELECTION)
    await eventually(() => assert.ok(haveWords()), PATIENT)
    const electionStart = performance.now()
    const heal = await run(cluster)
    const lasted = performance.now() - electionStart
    t.true(listeners.every(({ finals }) => finals().length < WORDS), 'the election ends before the last word')
    await heal()
    for (const { live, sender, listeners: sessionListeners } of sessions) {
      t.is(await sender.ended, 1000)
      await Promise.all(sessionListeners.map(({ ended }) => ended))
      for (const { finals } of sessionListeners) t.deepEqual(finals(), upTo(WORDS), `session ${live.id}`)
      t.deepEqual(await eventually(() => storedNumbers(speaker, live), PATIENT), upTo(WORDS), `session ${live.id}`)
      t.deepEqual(await courseOf(cluster, live), { moves: [], last: 'LiveFinished' }, `session ${live.id}`)
    }
    t.deepEqual(await cluster.workers(), workersBefore)
    const gap = Math.max(...listeners.map((listener) => longestSilence(listener, electionStart)))
    t.log(`round ${round}: new leader after ${seconds(lasted)}; ${seconds(gap)} without text at most`)
  }
}

for (const [event, run] of Object.entries(MONGODB_ELECTIONS))
  test.serial(`no session ends or moves and no word is lost while ${event}`, survivesElection(true, run))

for (const [event, run] of Object.entries(EVENTSTOREDB_ELECTIONS)) {
  const eventStoreTest = EVENTSTORE_FOLDER !== undefined && EVENTSTORE_NODES >= 3 ? test.serial : test.serial.skip
  eventStoreTest(`no session ends or moves and no word is lost while ${event}`, survivesElection(false, run))
}
