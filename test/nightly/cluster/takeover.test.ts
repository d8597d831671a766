import assert from 'node:assert/strict'
import test from 'ava'
import { startCluster, type ClusterProcess, type Peer } from '../../support/cluster/cluster.ts'
import {
  listenTo, longestSilence, sendWords, speakerAt, storedNumbers, upTo, type NumberedListener,
} from '../../support/cluster/numbered-session.ts'
import { startSplitCluster } from '../../support/cluster/split-cluster.ts'
import { eventually } from '../../support/tools/eventually.ts'

/** Number of rounds of each fault. */
const ROUNDS = Number(process.env['STENOLOG_TEST_TAKEOVERS'] ?? 1)
const PATIENT = { timeoutMs: 180_000 }
/** Number of words in a session. */
const WORDS = 50
/** The fault begins when each listener has this many final words. */
const WORDS_BEFORE_FAULT = 10

interface Fault {
  readonly strike: (worker: ClusterProcess) => unknown
  readonly heal: (worker: ClusterProcess) => unknown
  /** Number of final words after which the fault is healed. When undefined, it is healed after the session. */
  readonly healedAt?: number
}

const cut = (...peers: ReadonlyArray<Peer>): Fault => ({
  strike: (worker) => peers.forEach((peer) => worker.cut(peer)),
  heal: (worker) => peers.forEach((peer) => worker.mend(peer)),
})

const FAULTS: Readonly<Record<string, Fault>> = {
  'killed': { strike: (worker) => worker.kill(), heal: (worker) => worker.start() },
  'frozen': { strike: (worker) => worker.freeze(), heal: (worker) => worker.thaw() },
  'cut off': cut('mongodb', 'eventstoredb', 'peers'),
  'cut off from MongoDB': cut('mongodb'),
  // The worker still sends heartbeats and stores its text later, so no session moves.
  'cut off from EventStoreDB': { ...cut('eventstoredb'), healedAt: 30 },
  'cut off from its peers': cut('peers'),
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

for (const [name, { strike, heal, healedAt }] of Object.entries(FAULTS)) {
  test.serial(`no word is lost when a worker is ${name}`, async (t) => {
    t.timeout(10 * 60_000 * ROUNDS)
    const { apis, workers, workerOf } = await startSplitCluster(t)
    const [one, two] = apis
    const speaker = await speakerAt(one.url())
    const gaps: Array<number> = []
    for (let round = 1; round <= ROUNDS; round += 1) {
      const live = await speaker.createLive({ live_retention: true })
      const listeners = [listenTo(live, [one.url]), listenTo(live, [two.url])]
      const untilFinals = (count: number) =>
        eventually(() => assert.ok(listeners.every(({ finals }) => finals().length >= count)), PATIENT)
      const sender = await sendWords(one.url(), live, WORDS)
      await untilFinals(WORDS_BEFORE_FAULT)
      const worker = await workerOf(live.id)
      const struck = performance.now()
      await strike(worker)
      if (healedAt !== undefined) {
        await untilFinals(healedAt)
        await heal(worker)
      }
      t.is(await sender.ended, 1000)
      await Promise.all(listeners.map(({ ended }) => ended))
      const gap = Math.max(...listeners.map((listener: NumberedListener) => longestSilence(listener, struck)))
      gaps.push(gap)
      t.log(`round ${round}, ${worker.name}: ${seconds(gap)} without text`)
      for (const listener of listeners) t.deepEqual(listener.finals(), upTo(WORDS))
      t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS))
      if (healedAt === undefined) await heal(worker)
      // The next round needs both workers.
      await eventually(async () => assert.deepEqual(await workers(), ['worker-1', 'worker-2']), PATIENT)
    }
    t.log(`${name}: median ${seconds(median(gaps))}, longest ${seconds(Math.max(...gaps))} of ${gaps.length}`)
  })
}

test.serial('a stopped worker hands its sessions to the other worker', async (t) => {
  t.timeout(10 * 60_000 * ROUNDS)
  const { apis: [one, two], workers, workerOf } = await startSplitCluster(t)
  const speaker = await speakerAt(one.url())
  const gaps: Array<number> = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const live = await speaker.createLive({ live_retention: true })
    const listeners = [listenTo(live, [one.url]), listenTo(live, [two.url])]
    const sender = await sendWords(one.url(), live, WORDS)
    await eventually(() => assert.ok(listeners.every(({ finals }) => finals().length >= WORDS_BEFORE_FAULT)), PATIENT)
    const worker = await workerOf(live.id)
    const stopped = performance.now()
    t.is(await worker.stop(), 0)
    t.is(await sender.ended, 1000)
    await Promise.all(listeners.map(({ ended }) => ended))
    const gap = Math.max(...listeners.map((listener) => longestSilence(listener, stopped)))
    gaps.push(gap)
    t.log(`round ${round}, ${worker.name}: ${seconds(gap)} without text`)
    for (const listener of listeners) t.deepEqual(listener.finals(), upTo(WORDS))
    t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS))
    await worker.start()
    await eventually(async () => assert.deepEqual(await workers(), ['worker-1', 'worker-2']), PATIENT)
  }
  t.log(`stopped: median ${seconds(median(gaps))}, longest ${seconds(Math.max(...gaps))} of ${gaps.length}`)
})

test.serial('three processes can start at once with the first administrator in their settings', async (t) => {
  t.timeout(10 * 60_000)
  for (let round = 1; round <= ROUNDS; round += 1) {
    const cluster = await startCluster(t)
    const started = await Promise.all(['one', 'two', 'three'].map((name) => cluster.add(name)))
    for (const process of started) {
      const speaker = await speakerAt(process.url())
      t.is((await speaker.get('/lives/')).status, 200)
    }
  }
})
