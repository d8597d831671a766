/**
 * Clients create sessions at one process and use them at once at another one, while a projector, a worker and the
 * event store (of several nodes: its leader) are killed, and a projector and a worker are frozen, in turn.
 * `STENOLOG_TEST_CREATES=10000` creates 10,000 sessions (200 without it).
 */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { mapConcurrently } from '../../../application/concurrency.ts'
import { startCluster, type Cluster, type ClusterProcess } from '../../support/cluster/cluster.ts'
import { speakerAt } from '../../support/cluster/numbered-session.ts'
import { createClient, handshake, type Listing, type LiveJson, type Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'

const CREATES = Number(process.env['STENOLOG_TEST_CREATES'] ?? 200)
const CLIENTS = 24
/** Milliseconds of a fault, and between two faults. */
const [DOWN_MS, UP_MS] = [6000, 10_000]
const MINUTE = 60_000

interface Fault {
  readonly kill: () => Promise<unknown>
  readonly heal: () => Promise<unknown>
}

/** The leader of a real event store, or all of a double. */
const eventStoreFault = ({ eventStore }: Cluster): Fault => {
  const { server } = eventStore
  if (server === null) return { kill: eventStore.kill, heal: eventStore.start }
  let killed = server.nodes[0]
  return {
    kill: async () => {
      killed = (await server.leader()) ?? killed
      await killed?.kill()
    },
    heal: async () => {
      await killed?.start()
      await server.untilHealthy()
    },
  }
}

/** Starts a process until it runs, as a supervisor does: beside a busy store a start may fail. */
const restarted = (start: ClusterProcess['start']) => (): Promise<void> =>
  eventually(start, { timeoutMs: 10 * MINUTE, pauseMs: 1000 })

const killed = ({ kill, start }: ClusterProcess): Fault => ({ kill, heal: restarted(start) })

/** The process stands still, and its connections stay open. If it ends when it wakes, it is started again. */
const frozen = ({ freeze, thaw, isRunning, start }: ClusterProcess): Fault => ({
  kill: async () => freeze(),
  heal: async () => {
    thaw()
    await delay(UP_MS)
    if (!isRunning()) await restarted(start)()
  },
})

/** Applies the faults in turn until the signal aborts. Returns how often a fault struck. */
const strike = async (faults: ReadonlyArray<Fault>, signal: AbortSignal): Promise<number> => {
  for (let strikes = 0; ; strikes += 1) {
    const fault = faults[strikes % faults.length]
    if (signal.aborted || fault === undefined) return strikes
    await fault.kill()
    await delay(DOWN_MS)
    await fault.heal()
    await delay(UP_MS)
  }
}

/** A request with a broken connection has no status: 0. */
const statusOf = (request: () => Promise<{ readonly status: number }>): Promise<number> =>
  request().then(({ status }) => status, () => 0)

test.serial(`${CREATES} sessions work at once at another process while processes are killed`, async (t) => {
  t.timeout(300 * MINUTE)
  const cluster = await startCluster(t)
  const [worker, lists] = await Promise.all([cluster.add('worker', 'worker'), cluster.add('lists', 'projector')])
  const [one, two] = await Promise.all([cluster.add('api-1', 'api'), cluster.add('api-2', 'api')])
  const three = await cluster.add('api-3', 'api')
  const { token } = await speakerAt(one.url())
  const fronts = [one, two, three].map((front) => ({ url: front.url, client: () => createClient(front.url(), token) }))
  const anywhere = () => createClient(one.url(), token)
  const stop = new AbortController()
  const faults = [
    killed(lists),
    killed(worker),
    eventStoreFault(cluster),
    frozen(lists),
    frozen(worker),
  ]

  const counts = new Map<string, number>()
  const count = (use: string, status: number): void => {
    const key = `${use}: ${status}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const created: Array<number> = []
  const create = (client: () => ReturnType<typeof createClient>): Promise<LiveJson> =>
    eventually(async () => {
      const answer = await client().post<Single<LiveJson>>('/lives', { model: 'demo-en', language: 'en' })
      count('create', answer.status)
      if (answer.status !== 200) throw new Error(`create: ${answer.status}`)
      return answer.body.data
    }, { timeoutMs: 10 * MINUTE, pauseMs: 500 })

  const createAndUse = async (n: number): Promise<void> => {
    const [here, there] = [fronts[n % fronts.length], fronts[(n + 1) % fronts.length]]
    assert.ok(here !== undefined && there !== undefined)
    const live = await create(here.client)
    created.push(live.id)
    const at = (path: string, socketToken: string) => () =>
      handshake(`${there.url().replace('http', 'ws')}/ws/live${path}?token=${socketToken}`)
    const uses = [
      ['sender', at(`/${live.id}`, live.sender_token)],
      ['listener', at(`/${live.id}`, live.listener_token)],
      ['listener without id', at('', live.listener_token)],
      ['sender without id', at('', live.sender_token)],
    ] as const
    const [name, use] = uses[n % uses.length] ?? uses[0]
    count('GET', await statusOf(() => there.client().get(`/lives/${live.id}`)))
    count(name, await statusOf(use))
    // The positive control: the counts show a 401 and a 404 where they are right.
    count('wrong token', await statusOf(at(`/${live.id}`, 'x'.repeat(32))))
    count('unknown session', await statusOf(() => there.client().get(`/lives/${live.id + 1_000_000}`)))
    await eventually(async () => {
      const { status } = await here.client().put(`/lives/${live.id}/finish`)
      count('finish', status)
      assert.equal(status, 200)
    }, { timeoutMs: 10 * MINUTE, pauseMs: 500 })
  }
  const all = Array.from({ length: CREATES }, (_, n) => n)
  const [strikes] = await Promise.all([
    strike(faults, stop.signal),
    mapConcurrently(CLIENTS, all, createAndUse).finally(() => stop.abort()),
  ])
  const seen = [...counts].map(([key, number]) => `${key} × ${number}`).toSorted()
  t.log(`${CREATES} creates, ${strikes} kills; ${seen.join('; ')}`)
  const wrong = [...counts.keys()].filter((key) => /40[14]$/.test(key))
  t.deepEqual(wrong.toSorted(), ['unknown session: 404', 'wrong token: 401'])
  t.is(new Set(created).size, CREATES, 'no id was given twice')

  // Nothing acknowledged is lost: every session can be read and has ended, and the lists catch up with all of them.
  await mapConcurrently(CLIENTS, created, (id) =>
    eventually(async () => {
      const { status, body } = await anywhere().get<Single<LiveJson>>(`/lives/${id}`)
      assert.equal(status, 200)
      assert.equal(body.data.status, 'finished')
    }))
  await eventually(async () => {
    const { body } = await anywhere().get<Listing<LiveJson>>('/lives/?limit=1')
    assert.ok(body.pagination.total_items >= CREATES)
  }, { timeoutMs: 10 * MINUTE })
})
