/**
 * Lives of several processes while MongoDB or EventStoreDB chooses who leads. `STENOLOG_TEST_ELECTIONS=10` has ten of each
 * kind (1). Those of EventStoreDB need three nodes of a real one: STENOLOG_TEST_EVENTSTORE_BIN and STENOLOG_TEST_EVENTSTORE_NODES=3.
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { ExecutionContext } from 'ava'
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
/** Milliseconds. */
const PATIENT = { timeoutMs: 180_000 }
/** At two workers. */
const LIVES = 4
/** Words of a live, and those that are told before the election begins. */
const [WORDS, BEFORE] = [90, 10]
/** As long as MongoDB takes by default to find out that its primary is gone, and to choose another. */
const ELECTION_MS = 12_000

/** One election; resolves once another leads, with what makes all members well again. */
type Election = (cluster: Cluster) => Promise<() => Promise<unknown>>

const elects =
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

const OF_MONGODB: Readonly<Record<string, Election>> = {
  'the primary of MongoDB steps down': elects(
    () => ({ turn: 'step-down', electionMs: ELECTION_MS }),
    () => null,
  ),
  'the primary of MongoDB is killed': elects(
    (member) => ({ turn: 'stop', member, electionMs: ELECTION_MS }),
    (member) => ({ turn: 'start', member }),
  ),
  'the primary of MongoDB is frozen': elects(
    (member) => ({ turn: 'freeze', member, electionMs: ELECTION_MS }),
    (member) => ({ turn: 'thaw', member, claimMs: 500 }),
  ),
}

const loses = (begin: (leader: EventStoreNode) => unknown, heal: (leader: EventStoreNode) => unknown): Election =>
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

const OF_EVENTSTOREDB: Readonly<Record<string, Election>> = {
  'the leader of EventStoreDB resigns': loses((leader) => leader.resign(), () => undefined),
  'the leader of EventStoreDB is killed': loses((leader) => leader.kill(), (leader) => leader.start()),
  'the leader of EventStoreDB is frozen': loses((leader) => leader.freeze(), async (leader) => {
    // Back again it ends itself: by then the others have long gone on.
    await delay(ELECTION_MS)
    leader.thaw()
  }),
}

/** What the log says that became of a live from its creation to its end. */
const courseOf = async ({ read }: Cluster, { id }: LiveJson) => {
  const placed = (await read(ADMISSION_STREAM))
    .filter(({ data }) => (data as { readonly liveId?: number }).liveId === id)
    .map(({ type }) => type)
  const lived = (await read(`live-${id}`)).map(({ type }) => type)
  return {
    moves: [...placed, ...lived].filter((type) => ['Moved', 'LiveTakenOver'].includes(type)),
    last: lived.at(-1),
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const outlasts = (isReplicaSet: boolean, run: Election) => async (t: ExecutionContext): Promise<void> => {
  t.timeout(10 * 60_000 * ROUNDS)
  const cluster = await startSplitCluster(t, {}, { isReplicaSet })
  const [one, two] = cluster.apis
  const speaker = await speakerAt(one.url())
  const joined = await cluster.workers()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const sessions = await Promise.all(Array.from({ length: LIVES }, async () => {
      const live = await speaker.createLive({ live_retention: true })
      const listeners = [listenTo(live, [one.url]), listenTo(live, [two.url])]
      return { live, listeners, sender: await sendWords(one.url(), live, WORDS) }
    }))
    const listeners = sessions.flatMap((session) => session.listeners)
    await eventually(() => assert.ok(listeners.every(({ finals }) => finals().length >= BEFORE)), PATIENT)
    const begun = performance.now()
    const heal = await run(cluster)
    const lasted = performance.now() - begun
    t.true(listeners.every(({ finals }) => finals().length < WORDS), 'the words were too few for this election')
    await heal()
    for (const { live, sender, listeners: hearing } of sessions) {
      t.is(await sender.over, 1000)
      await Promise.all(hearing.map(({ over }) => over))
      for (const { finals } of hearing) t.deepEqual(finals(), upTo(WORDS), `live ${live.id}`)
      t.deepEqual(await eventually(() => storedNumbers(speaker, live), PATIENT), upTo(WORDS), `live ${live.id}`)
      t.deepEqual(await courseOf(cluster, live), { moves: [], last: 'LiveFinished' }, `live ${live.id}`)
    }
    t.deepEqual(await cluster.workers(), joined)
    const gap = Math.max(...listeners.map((listener) => longestSilence(listener, begun)))
    t.log(`round ${round}: another leads after ${seconds(lasted)}; ${seconds(gap)} without text at most`)
  }
}

for (const [what, run] of Object.entries(OF_MONGODB))
  test.serial(`no live ends or moves, and no word is lost, while ${what}`, outlasts(true, run))

for (const [what, run] of Object.entries(OF_EVENTSTOREDB)) {
  const titled = EVENTSTORE_FOLDER !== undefined && EVENTSTORE_NODES >= 3 ? test.serial : test.serial.skip
  titled(`no live ends or moves, and no word is lost, while ${what}`, outlasts(false, run))
}
