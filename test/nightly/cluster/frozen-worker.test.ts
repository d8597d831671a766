/** A worker that stands still for long, and what it does when it wakes. `STENOLOG_TEST_WAKES=10` has ten of them (1). */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import type { LiveJson } from '../../support/service/client.ts'
import type { Cluster, ClusterProcess } from '../../support/cluster/cluster.ts'
import { listenTo, sendWords, speakerAt, storedNumbers, upTo } from '../../support/cluster/numbered-session.ts'
import { startSplitCluster } from '../../support/cluster/split-cluster.ts'
import { eventually } from '../../support/tools/eventually.ts'

const ROUNDS = Number(process.env['STENOLOG_TEST_WAKES'] ?? 1)
const FROZEN_MS = 30_000
/** Milliseconds. */
const PATIENT = { timeoutMs: 180_000 }
/** At two workers: some of them at the one that is frozen. */
const LIVES = 4
/** Words of a live: about seven finals. */
const WORDS = 140

const DROPPED = 'another worker has the session: it is dropped here'

/** Milliseconds from a moment until a process says that it has dropped a live. */
const droppedAfter = (worker: ClusterProcess, { id }: LiveJson, moment: number): number => {
  const said = worker
    .log()
    .split('\n')
    .filter((line) => line.includes(DROPPED))
    .map((line) => JSON.parse(line) as { readonly liveId: number; readonly time: string })
  const found = said.find(({ liveId, time }) => liveId === id && Date.parse(time) >= moment)
  if (found === undefined) throw new Error(`${worker.name} has not dropped live ${id}`)
  return Date.parse(found.time) - moment
}

const termIn = ({ data }: StoredEvent): number | undefined => (data as { readonly term?: number }).term

/** Events of these types that were written in a lower term than a fence before them. */
const behindTheFence = async (
  { read }: Cluster,
  stream: string,
  fence: string,
  ...of: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  let term = 1
  const late: Array<string> = []
  for (const event of await read(stream)) {
    const own = termIn(event) ?? 1
    if (event.type === fence) term = own
    // Ends that nobody's worker asked for name no term.
    else if (own < term && of.includes(event.type)) late.push(`${event.type} of term ${own} behind ${term}`)
  }
  assert.ok(term > 1, `${stream} has no ${fence}`)
  return late
}

test.serial('a worker that was frozen for long drops its lives when it wakes, and writes nothing behind their fences', async (t) => {
  t.timeout(10 * 60_000 * ROUNDS)
  const cluster = await startSplitCluster(t)
  const [one, two] = cluster.apis
  const speaker = await speakerAt(one.url())
  const took: Array<number> = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const sessions = await Promise.all(Array.from({ length: LIVES }, async () => {
      const live = await speaker.createLive({ live_retention: true })
      return {
        live,
        listener: listenTo(live, [two.url]),
        sender: await sendWords(one.url(), live, WORDS),
        worker: await cluster.workerOf(live.id),
      }
    }))
    /** Waits until each live tells a further final. */
    const more = async (): Promise<void> => {
      const before = sessions.map(({ listener }) => listener.finals().length)
      await eventually(
        () => assert.ok(sessions.every(({ listener }, i) => listener.finals().length > (before[i] ?? 0))),
        PATIENT,
      )
    }
    await more()
    const frozen = sessions[0]?.worker
    assert.ok(frozen !== undefined)
    const moved = sessions.filter(({ worker }) => worker === frozen)
    // What it has told by then waits to be stored, and could be as soon as it wakes.
    frozen.cut('eventstoredb')
    await more()
    frozen.freeze()
    frozen.mend('eventstoredb')
    // The length of its sleep is what is tried.
    await Promise.all([delay(FROZEN_MS), more()])
    const woken = Date.now()
    frozen.thaw()
    const last = await eventually(
      () => Math.max(...moved.map(({ live }) => droppedAfter(frozen, live, woken))),
      PATIENT,
    )
    took.push(last)
    for (const { live, listener, sender } of sessions) {
      t.is(await sender.over, 1000)
      await listener.over
      t.deepEqual(listener.finals(), upTo(WORDS), `live ${live.id}`)
      t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS), `live ${live.id}`)
    }
    for (const { live: { id } } of moved) {
      t.deepEqual(await behindTheFence(cluster, `segments-${id}`, 'SegmentsFenced', 'SegmentFinalised'), [])
      t.deepEqual(
        await behindTheFence(cluster, `live-${id}`, 'LiveTakenOver', 'SenderAttached', 'VocabularyChanged'),
        [],
      )
    }
    t.log(`round ${round}: ${moved.length} lives of ${frozen.name} dropped ${last} ms after it woke`)
    await eventually(async () => assert.deepEqual(await cluster.workers(), ['worker-1', 'worker-2']), PATIENT)
  }
  t.log(`woken to dropped: ${took.toSorted((a, b) => a - b).join(', ')} ms`)
})
