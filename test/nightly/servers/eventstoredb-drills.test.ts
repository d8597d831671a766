/**
 * The service under load on three nodes of a real EventStoreDB, which fail in every way that a cluster outlasts. Each drill
 * begins with three healthy nodes. `STENOLOG_TEST_DRILLS=20` has 20 of each kind that takes the leader away (2 without it), and
 * a quarter as many losses of the quorum. `STENOLOG_TEST_DRILLS_FROM=17` begins with the 17th, `STENOLOG_TEST_SEED` repeats
 * its chance. Nothing acknowledged may be lost; how long everything took is told.
 */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { right } from '../../contract/event-store-support.ts'
import { EVENTSTORE_FOLDER } from '../../support/stores/chosen-stores.ts'
import type { Client, LiveJson } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { PATIENT_LIMITS } from '../../support/doubles/eventstoredb/patient.ts'
import type { EventStoreNode } from '../../support/stores/eventstoredb-server/node.ts'
import { startEventStoreServer } from '../../support/stores/eventstoredb-server/start.ts'
import { isRunning } from '../../support/tools/processes.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { runTestService } from '../../support/service/service.ts'
import { startSessionLoad, type LoadedSession } from '../../support/load/session-load.ts'

const EACH = Number(process.env['STENOLOG_TEST_DRILLS'] ?? 2)
const FROM = Number(process.env['STENOLOG_TEST_DRILLS_FROM'] ?? 1)

type Act = (leader: EventStoreNode, followers: ReadonlyArray<EventStoreNode>) => Promise<unknown>

interface Drill {
  readonly what: string
  readonly begin: Act
  readonly lastsMs: number
  readonly end: Act
  /** One node of three is left, and chooses a leader with the others when they are back. */
  readonly takesQuorum?: boolean
}

const both = (nodes: ReadonlyArray<EventStoreNode>, act: (node: EventStoreNode) => unknown): Promise<unknown> =>
  Promise.all(nodes.map(act))

const LEADER_GONE: ReadonlyArray<Drill> = [
  { what: 'the leader is killed', begin: (leader) => leader.kill(), lastsMs: 5000, end: (leader) => leader.start() },
  {
    what: 'the leader is frozen',
    begin: async (leader) => leader.freeze(),
    lastsMs: 30_000,
    end: async (leader) => leader.thaw(),
  },
  { what: 'the leader resigns', begin: (leader) => leader.resign(), lastsMs: 0, end: async () => undefined },
]
const QUORUM_GONE: ReadonlyArray<Drill> = [
  {
    what: 'both followers are killed',
    takesQuorum: true,
    lastsMs: 20_000,
    begin: (_, followers) => both(followers, (node) => node.kill()),
    end: (_, followers) => both(followers, (node) => node.start()),
  },
  {
    what: 'both followers are frozen',
    takesQuorum: true,
    lastsMs: 20_000,
    begin: (_, followers) => both(followers, (node) => node.freeze()),
    end: (_, followers) => both(followers, (node) => node.thaw()),
  },
]
const rounds = (count: number, kinds: ReadonlyArray<Drill>): ReadonlyArray<Drill> =>
  Array.from({ length: count }, () => kinds).flat()
const drills = [
  ...rounds(EACH, LEADER_GONE),
  ...rounds(EACH, QUORUM_GONE).slice(0, Math.max(QUORUM_GONE.length, Math.ceil(EACH / 4))),
]

/** Far more than any of it should take: a cluster that is not well by then never will be. */
const PATIENCE = { timeoutMs: 180_000 }

const first = (what: string, find: () => number | null | undefined): Promise<number> =>
  eventually(() => {
    const at = find()
    if (at === null || at === undefined) throw new Error(`not yet: ${what}`)
    return at
  }, PATIENCE)

/** When a node first calls itself leader by a later election than this one. */
const elected = (nodes: ReadonlyArray<EventStoreNode>, epoch: number): Promise<number> =>
  eventually(async () => {
    for (const node of nodes) {
      const state = await node.state()
      const at = performance.now()
      if (state === 'leader' && (await node.epoch()) > epoch) return at
    }
    throw new Error('no leader yet')
  }, PATIENCE)

const nothingIsLost = async (
  t: ExecutionContext,
  url: string,
  client: Client,
  sessions: ReadonlyArray<LoadedSession>,
): Promise<void> => {
  const log = await openEventStoreDb({ url, limits: PATIENT_LIMITS })
  try {
    for (const { id, isFinished } of sessions) {
      const types = (await right(log.read(`live-${id}`))).map(({ type }) => type)
      t.is(types.filter((type) => type === 'LiveCreated').length, 1, `the create of live ${id}`)
      if (!isFinished) continue
      t.is(types.filter((type) => type === 'LiveFinished').length, 1, `the end of live ${id}`)
      await client.untilStatus({ id } as LiveJson, 'finished')
    }
  } finally {
    await log.close()
  }
}

const told = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Milliseconds, by the drill and what was waited for. */
const measured = new Map<string, ReadonlyArray<number>>()

if (EVENTSTORE_FOLDER === undefined) test.skip('drills on three nodes of a real EventStoreDB', (t) => t.fail())
else {
  const server = await startEventStoreServer({ nodes: 3 })
  const keyFile = join(server.directory, 'master.key')
  await writeFile(keyFile, randomBytes(32))
  const service = await runTestService({ EVENTSTORE_URL: server.url, MASTER_KEY_FILE: keyFile, VRAM_MB: '1000000000' })
  test.after.always(async () => {
    await service.dispose()
    await server.dispose()
  })
  const pid = service.pid()
  let client: Client
  test.before(async () => {
    client = await eventually(() => service.user('of the drills', { max_sessions: 1_000_000 }))
  })

  for (const [index, { what, begin, lastsMs, end, takesQuorum = false }] of drills.entries())
    (index + 1 < FROM ? test.serial.skip : test.serial)(`drill ${index + 1} of ${drills.length}: ${what}, and no acknowledged write is lost`, async (t) => {
      t.timeout(1_200_000)
      const random = chanceOf(t).random(`drill ${index + 1}`)
      await server.untilHealthy()
      const leader = await server.leader()
      if (leader === undefined) throw new Error('the leader went')
      const followers = server.nodes.filter((node) => node !== leader)
      const epoch = await leader.epoch()
      const load = startSessionLoad(client)
      await first('a session', () => load.sessions.at(0)?.seen)
      // The moment within the load is what chance decides; nothing is waited for.
      await delay(random() * 1000)

      const took = (name: string, ms: number): void => {
        t.log(`${name}: ${told(ms)}`)
        measured.set(`${what}: ${name}`, [...(measured.get(`${what}: ${name}`) ?? []), ms])
      }
      const begun = performance.now()
      await begin(leader, followers)
      if (takesQuorum) {
        const unready = await first(
          'unready',
          () => load.readiness.find(({ at, isReady }) => at >= begun && !isReady)?.at,
        )
        took('unready', unready - begun)
        await delay(Math.max(0, begun + lastsMs - performance.now()))
      }
      const healed = performance.now()
      const [, at] = await Promise.all([takesQuorum ? end(leader, followers) : undefined, elected(server.nodes, epoch)])
      const ready = await first('ready', () => load.readiness.find((look) => look.at >= at && look.isReady)?.at)
      const isNew = ({ created, begun: sent }: LoadedSession): boolean => sent >= begun && created >= at
      const written = await first('a write', () => load.sessions.find(isNew)?.created)
      const fed = await first(
        'what was written is read',
        () => load.sessions.find((session) => isNew(session) && session.seen !== null)?.seen,
      )
      took('election', at - (takesQuorum ? healed : begun))
      for (const [name, moment] of [
        ['ready', ready],
        ['writes', written],
        ['feeds', fed],
      ] as const)
        took(`${name} after it`, moment - at)
      if (!takesQuorum) {
        await delay(Math.max(0, begun + lastsMs - performance.now()))
        await end(leader, followers)
      }
      await server.untilHealthy()
      await load.stop()

      t.true(service.pid() === pid && isRunning(pid), service.log())
      t.deepEqual(load.surprises, [])
      await nothingIsLost(t, server.url, client, load.sessions)
      t.log(
        `${load.sessions.length} creates and ${load.sessions.filter(({ isFinished }) => isFinished).length} ends acknowledged, all there`,
      )
    })

  test.serial('what the drills took', (t) => {
    for (const [what, all] of measured) {
      const sorted = all.toSorted((one, other) => one - other)
      const [middle = 0, longest = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
      t.log(`${what}: p50 ${told(middle)}, longest ${told(longest)} of ${all.length}`)
    }
    t.false(service.log().includes('unexpected error'), service.log())
  })
}
