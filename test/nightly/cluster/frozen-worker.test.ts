/** Freezes a worker and wakes it again. `STENOLOG_TEST_WAKES=10` runs ten rounds (1 without it). */
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
const PATIENT = { timeoutMs: 180_000 }
/** Number of sessions: enough for each of the two workers to run at least one. */
const LIVES = 4
/** Number of words in a session: about seven final segments. */
const WORDS = 140

const DROPPED = 'another worker runs the session: it is stopped here'

/** Returns how many milliseconds after a moment a process logged that it dropped a session. */
const droppedAfter = (worker: ClusterProcess, { id }: LiveJson, moment: number): number => {
  const dropLines = worker
    .log()
    .split('\n')
    .filter((line) => line.includes(DROPPED))
    .map((line) => JSON.parse(line) as { readonly liveId: number; readonly time: string })
  const dropped = dropLines.find(({ liveId, time }) => liveId === id && Date.parse(time) >= moment)
  if (dropped === undefined) throw new Error(`${worker.name} has not dropped session ${id}`)
  return Date.parse(dropped.time) - moment
}

const termIn = ({ data }: StoredEvent): number | undefined => (data as { readonly term?: number }).term

/**
 * Lists the events of the given types that an earlier worker of a session stored after a later worker took over. A
 * takeover appends a fence, which is an event with a higher term. The term counts the workers that a session has had.
 */
const eventsAfterTheFence = async (
  { read }: Cluster,
  stream: string,
  fence: string,
  ...types: ReadonlyArray<string>
): Promise<ReadonlyArray<string>> => {
  let term = 1
  const late: Array<string> = []
  for (const event of await read(stream)) {
    const eventTerm = termIn(event) ?? 1
    if (event.type === fence) term = eventTerm
    // Ends that no worker requested have no term.
    else if (eventTerm < term && types.includes(event.type))
      late.push(`${event.type} of term ${eventTerm} after the fence of term ${term}`)
  }
  assert.ok(term > 1, `${stream} has no ${fence}`)
  return late
}

test.serial('a frozen worker that wakes drops the sessions that moved, and writes nothing more to them', async (t) => {
  t.timeout(10 * 60_000 * ROUNDS)
  const cluster = await startSplitCluster(t)
  const [one, two] = cluster.apis
  const speaker = await speakerAt(one.url())
  const dropTimes: Array<number> = []
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
    /** Waits until each session sends another final segment. */
    const untilAnotherFinal = async (): Promise<void> => {
      const before = sessions.map(({ listener }) => listener.finals().length)
      await eventually(
        () => assert.ok(sessions.every(({ listener }, i) => listener.finals().length > (before[i] ?? 0))),
        PATIENT,
      )
    }
    await untilAnotherFinal()
    const frozen = sessions[0]?.worker
    assert.ok(frozen !== undefined)
    const moved = sessions.filter(({ worker }) => worker === frozen)
    // The worker now holds finals that it could store as soon as it wakes.
    frozen.cut('eventstoredb')
    await untilAnotherFinal()
    frozen.freeze()
    frozen.mend('eventstoredb')
    // The length of the freeze matters here, so the test waits for time and not for a condition.
    await Promise.all([delay(FROZEN_MS), untilAnotherFinal()])
    const woken = Date.now()
    frozen.thaw()
    const slowestDrop = await eventually(
      () => Math.max(...moved.map(({ live }) => droppedAfter(frozen, live, woken))),
      PATIENT,
    )
    dropTimes.push(slowestDrop)
    for (const { live, listener, sender } of sessions) {
      t.is(await sender.ended, 1000)
      await listener.ended
      t.deepEqual(listener.finals(), upTo(WORDS), `session ${live.id}`)
      t.deepEqual(await storedNumbers(speaker, live), upTo(WORDS), `session ${live.id}`)
    }
    for (const { live: { id } } of moved) {
      t.deepEqual(await eventsAfterTheFence(cluster, `segments-${id}`, 'SegmentsFenced', 'SegmentFinalised'), [])
      t.deepEqual(
        await eventsAfterTheFence(cluster, `live-${id}`, 'LiveTakenOver', 'SenderAttached', 'VocabularyChanged'),
        [],
      )
    }
    t.log(`round ${round}: ${moved.length} sessions of ${frozen.name} dropped ${slowestDrop} ms after it woke`)
    await eventually(async () => assert.deepEqual(await cluster.workers(), ['worker-1', 'worker-2']), PATIENT)
  }
  t.log(`woken to dropped: ${dropTimes.toSorted((a, b) => a - b).join(', ')} ms`)
})
