/**
 * The service under load on three nodes of a real EventStoreDB, with failures that a cluster survives. Acknowledged
 * writes must not be lost. Each drill starts with three healthy nodes.
 * `STENOLOG_TEST_DRILLS=20` runs 20 drills of each kind that removes the leader (2 without it), and five drills that
 * remove the quorum.
 * `STENOLOG_TEST_DRILLS_FROM=17` starts with drill 17, `STENOLOG_TEST_SEED` repeats the random choices.
 */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { openEventStoreDb } from '../../../infrastructure/eventstoredb/event-store.ts'
import { right } from '../../contract/event-store-support.ts'
import { EVENTSTORE_FOLDER } from '../../support/stores/chosen-stores.ts'
import type { Client, LiveJson, Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { PATIENT_LIMITS } from '../../support/stores/eventstoredb-patience.ts'
import type { EventStoreNode } from '../../support/stores/eventstoredb-server/node.ts'
import { startEventStoreServer } from '../../support/stores/eventstoredb-server/start.ts'
import { isRunning } from '../../support/tools/processes.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { runTestService } from '../../support/service/service.ts'

/** The acknowledged commands of one session. Times are values of performance.now(). */
interface LoadedSession {
  readonly id: number
  /** When its create was sent. */
  readonly begun: number
  /** When its create was answered. */
  readonly created: number
  /** When it was first readable; null: not yet. */
  seen: number | null
  isFinished: boolean
}

interface SessionLoad {
  readonly sessions: ReadonlyArray<LoadedSession>
  /** The answers of `/health/ready`, in order. */
  readonly readiness: ReadonlyArray<{ readonly at: number; readonly isReady: boolean }>
  /** Statuses other than 200 and 503. */
  readonly surprises: ReadonlyArray<number>
  /** Waits until all requests are answered. Rejects when a request failed. */
  readonly stop: () => Promise<void>
}

const CREATORS = 4

/** Creates, reads and finishes sessions without pause, and polls the readiness, until `stop`. */
const startSessionLoad = (client: Client): SessionLoad => {
  const stopping = new AbortController()
  const sessions: Array<LoadedSession> = []
  const readiness: Array<{ readonly at: number; readonly isReady: boolean }> = []
  const surprises: Array<number> = []

  const isAcknowledged = async (status: number): Promise<boolean> => {
    if (status === 200) return true
    if (status !== 503) surprises.push(status)
    await delay(50)
    return false
  }
  const create = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const begun = performance.now()
      const created = await client.post<Single<LiveJson>>('/lives', { model: 'demo-en', language: 'en' })
      if (!(await isAcknowledged(created.status))) continue
      const { id } = created.body.data
      const session: LoadedSession = { id, begun, created: performance.now(), seen: null, isFinished: false }
      sessions.push(session)
      while (session.seen === null && !stopping.signal.aborted)
        if ((await client.get(`/lives/${id}`)).status === 200) session.seen = performance.now()
        else await delay(10)
      session.isFinished = await isAcknowledged((await client.put(`/lives/${id}/finish`)).status)
    }
  }
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const { status } = await client.get('/health/ready')
      readiness.push({ at: performance.now(), isReady: status === 200 })
      await delay(100)
    }
  }
  const work = Promise.allSettled([...Array.from({ length: CREATORS }, create), watch()])
  return {
    sessions,
    readiness,
    surprises,
    stop: async () => {
      stopping.abort()
      for (const done of await work) if (done.status === 'rejected') throw done.reason
    },
  }
}

const DRILLS_PER_KIND = Number(process.env['STENOLOG_TEST_DRILLS'] ?? 2)
const FROM = Number(process.env['STENOLOG_TEST_DRILLS_FROM'] ?? 1)

type Act = (leader: EventStoreNode, followers: ReadonlyArray<EventStoreNode>) => Promise<unknown>

interface Drill {
  readonly event: string
  readonly begin: Act
  readonly lastsMs: number
  readonly end: Act
  /** True when only one node of three remains. The election then follows the return of the other nodes. */
  readonly takesQuorum?: boolean
}

const onAll = (nodes: ReadonlyArray<EventStoreNode>, act: (node: EventStoreNode) => unknown): Promise<unknown> =>
  Promise.all(nodes.map(act))

const LEADER_LOSSES: ReadonlyArray<Drill> = [
  { event: 'the leader is killed', begin: (leader) => leader.kill(), lastsMs: 5000, end: (leader) => leader.start() },
  {
    event: 'the leader is frozen',
    begin: async (leader) => leader.freeze(),
    lastsMs: 30_000,
    end: async (leader) => leader.thaw(),
  },
  { event: 'the leader resigns', begin: (leader) => leader.resign(), lastsMs: 0, end: async () => undefined },
]
const QUORUM_LOSSES: ReadonlyArray<Drill> = [
  {
    event: 'both followers are killed',
    takesQuorum: true,
    lastsMs: 20_000,
    begin: (_, followers) => onAll(followers, (node) => node.kill()),
    end: (_, followers) => onAll(followers, (node) => node.start()),
  },
  {
    event: 'both followers are frozen',
    takesQuorum: true,
    lastsMs: 20_000,
    begin: (_, followers) => onAll(followers, (node) => node.freeze()),
    end: (_, followers) => onAll(followers, (node) => node.thaw()),
  },
]
const rounds = (count: number, kinds: ReadonlyArray<Drill>): ReadonlyArray<Drill> =>
  Array.from({ length: count }, () => kinds).flat()
const drills = [
  ...rounds(DRILLS_PER_KIND, LEADER_LOSSES),
  ...rounds(DRILLS_PER_KIND, QUORUM_LOSSES).slice(0, Math.max(QUORUM_LOSSES.length, Math.ceil(DRILLS_PER_KIND / 4))),
]

/** Limit for each awaited condition: far more than any step should take. */
const PATIENCE = { timeoutMs: 180_000 }

const firstTime = (subject: string, find: () => number | null | undefined): Promise<number> =>
  eventually(() => {
    const at = find()
    if (at === null || at === undefined) throw new Error(`not yet: ${subject}`)
    return at
  }, PATIENCE)

/** Waits for a leader of a later epoch. Returns the time at which a node first reported that it is this leader. */
const electedAt = (nodes: ReadonlyArray<EventStoreNode>, epoch: number): Promise<number> =>
  eventually(async () => {
    for (const node of nodes) {
      const state = await node.state()
      const at = performance.now()
      if (state === 'leader' && (await node.epoch()) > epoch) return at
    }
    throw new Error('no leader yet')
  }, PATIENCE)

const assertNothingLost = async (
  t: ExecutionContext,
  url: string,
  client: Client,
  sessions: ReadonlyArray<LoadedSession>,
): Promise<void> => {
  const log = await openEventStoreDb({ url, limits: PATIENT_LIMITS })
  try {
    for (const { id, isFinished } of sessions) {
      const types = (await right(log.read(`live-${id}`))).map(({ type }) => type)
      t.is(types.filter((type) => type === 'LiveCreated').length, 1, `session ${id} was created once`)
      if (!isFinished) continue
      t.is(types.filter((type) => type === 'LiveFinished').length, 1, `session ${id} was finished once`)
      await client.untilStatus({ id } as LiveJson, 'finished')
    }
  } finally {
    await log.close()
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

/** Milliseconds until each awaited condition, by the event of the drill and the name of the condition. */
const durations = new Map<string, ReadonlyArray<number>>()

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

  for (const [index, { event, begin, lastsMs, end, takesQuorum = false }] of drills.entries())
    (index + 1 < FROM ? test.serial.skip : test.serial)(`drill ${index + 1}: ${event}`, async (t) => {
      t.timeout(1_200_000)
      const random = chanceOf(t).random(`drill ${index + 1}`)
      await server.untilHealthy()
      const leader = await server.leader()
      if (leader === undefined) throw new Error('there is no leader')
      const followers = server.nodes.filter((node) => node !== leader)
      const epoch = await leader.epoch()
      const load = startSessionLoad(client)
      await firstTime('a session', () => load.sessions.at(0)?.seen)
      // The drill begins at a random moment of the load.
      await delay(random() * 1000)

      const record = (name: string, ms: number): void => {
        t.log(`${name}: ${seconds(ms)}`)
        durations.set(`${event}: ${name}`, [...(durations.get(`${event}: ${name}`) ?? []), ms])
      }
      const startedAt = performance.now()
      await begin(leader, followers)
      if (takesQuorum) {
        const unready = await firstTime(
          'unready',
          () => load.readiness.find(({ at, isReady }) => at >= startedAt && !isReady)?.at,
        )
        record('unready', unready - startedAt)
        await delay(Math.max(0, startedAt + lastsMs - performance.now()))
      }
      const healed = performance.now()
      const [, electionTime] = await Promise.all([
        takesQuorum ? end(leader, followers) : undefined,
        electedAt(server.nodes, epoch),
      ])
      const ready = await firstTime(
        'ready',
        () => load.readiness.find(({ at, isReady }) => at >= electionTime && isReady)?.at,
      )
      const isNew = ({ created, begun: sentAt }: LoadedSession): boolean =>
        sentAt >= startedAt && created >= electionTime
      const written = await firstTime('a write', () => load.sessions.find(isNew)?.created)
      const listed = await firstTime(
        'a new session is listed',
        () => load.sessions.find((session) => isNew(session) && session.seen !== null)?.seen,
      )
      record('election', electionTime - (takesQuorum ? healed : startedAt))
      for (const [name, moment] of [
        ['ready', ready],
        ['writes', written],
        ['feeds', listed],
      ] as const)
        record(`${name} after the election`, moment - electionTime)
      if (!takesQuorum) {
        await delay(Math.max(0, startedAt + lastsMs - performance.now()))
        await end(leader, followers)
      }
      await server.untilHealthy()
      await load.stop()

      t.true(service.pid() === pid && isRunning(pid), service.log())
      t.deepEqual(load.surprises, [])
      await assertNothingLost(t, server.url, client, load.sessions)
      t.log(
        `${load.sessions.length} creates and ${load.sessions.filter(({ isFinished }) => isFinished).length} ends ` +
          'acknowledged, all stored',
      )
    })

  test.serial('the drills caused no unexpected error', (t) => {
    for (const [name, times] of durations) {
      const sorted = times.toSorted((a, b) => a - b)
      const [middle = 0, longest = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)]
      t.log(`${name}: p50 ${seconds(middle)}, longest ${seconds(longest)} of ${times.length}`)
    }
    t.false(service.log().includes('unexpected error'), service.log())
  })
}
