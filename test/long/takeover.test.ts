import assert from 'node:assert/strict'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { startCluster } from '../support/cluster/cluster.ts'
import type { Cluster, ClusterProcess } from '../support/cluster/cluster.ts'
import { listenTo, sendWords, silenceAfter, speakerAt, storedNumbers, upTo } from '../support/cluster/numbered-session.ts'
import { eventually } from '../support/eventually.ts'

/** Rounds of each fault; 34 make a hundred. */
const ROUNDS = Number(process.env['STENOLOG_TEST_TAKEOVERS'] ?? 2)
/** Milliseconds. */
const PATIENT = { timeoutMs: 120_000 }
/** Words of a session: longer than any fault of these tests. */
const WORDS = 70

const FAULTS = {
  killed: { strike: (worker: ClusterProcess) => worker.kill(), heal: (worker: ClusterProcess) => worker.start() },
  frozen: { strike: (worker: ClusterProcess) => worker.freeze(), heal: (worker: ClusterProcess) => worker.thaw() },
  'cut off': {
    strike: (worker: ClusterProcess) => (['mongodb', 'eventstoredb', 'peers'] as const).forEach((peer) => worker.cut(peer)),
    heal: (worker: ClusterProcess) => (['mongodb', 'eventstoredb', 'peers'] as const).forEach((peer) => worker.mend(peer)),
  },
} as const

/** Two workers that hear, and two processes with sockets. */
const startSplit = async (t: ExecutionContext): Promise<Cluster & { readonly apis: ReadonlyArray<ClusterProcess> }> => {
  const cluster = await startCluster(t)
  await Promise.all([cluster.add('worker-1', 'worker'), cluster.add('worker-2', 'worker'), cluster.add('lists', 'projector')])
  const apis = await Promise.all([cluster.add('api-1', 'api'), cluster.add('api-2', 'api')])
  return { ...cluster, apis }
}

test.serial('a worker that is killed, frozen or cut off costs no word, and text comes again from another', async (t) => {
  t.timeout(60 * 60_000)
  const { apis, workerOf } = await startSplit(t)
  const [one, two] = apis as [ClusterProcess, ClusterProcess]
  const speaker = await speakerAt(one.url())
  for (let round = 1; round <= ROUNDS; round += 1)
    for (const [name, { strike, heal }] of Object.entries(FAULTS)) {
      const live = await speaker.createLive({ live_retention: true })
      const listeners = [listenTo(live, [one.url]), listenTo(live, [two.url])]
      const [first] = listeners as [ReturnType<typeof listenTo>]
      const sender = await sendWords(one.url(), live, WORDS)
      await eventually(() => assert.ok(first.finals().length >= 10), PATIENT)
      const worker = await workerOf(live.id)
      const struck = performance.now()
      await strike(worker)
      const silence = await eventually(() => silenceAfter(first, struck + 500) ?? assert.fail('no text yet'), PATIENT)
      t.log(`${name} ${round}: ${((silence + 500) / 1000).toFixed(1)} s without text`)
      t.is(await sender.over, 1000, name)
      await Promise.all(listeners.map(({ over }) => over))
      for (const listener of listeners) t.deepEqual(listener.finals(), upTo(WORDS), name)
      t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS), name)
      await heal(worker)
      // It is a worker again before the next round begins.
      await eventually(async () => assert.equal((await fetch(`${worker.url()}/health/ready`)).status, 200), PATIENT)
    }
})

test.serial('a worker that is stopped on purpose hands its sessions over', async (t) => {
  t.timeout(10 * 60_000)
  const { apis, workerOf } = await startSplit(t)
  const [one] = apis as [ClusterProcess]
  const speaker = await speakerAt(one.url())
  const live = await speaker.createLive({ live_retention: true })
  const listener = listenTo(live, [one.url])
  const sender = await sendWords(one.url(), live, WORDS)
  await eventually(() => assert.ok(listener.finals().length >= 10), PATIENT)
  const worker = await workerOf(live.id)
  const stopped = performance.now()
  t.is(await worker.stop(), 0)
  t.is(await sender.over, 1000)
  await listener.over
  const gaps = listener.times().map((time, i, all) => time - (all[i - 1] ?? time)).filter((_, i) => (listener.times()[i] ?? 0) > stopped)
  t.log(`${(Math.max(...gaps) / 1000).toFixed(1)} s without text`)
  t.deepEqual(listener.finals(), upTo(WORDS))
  t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS))
})
