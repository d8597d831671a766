import assert from 'node:assert/strict'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createClient } from '../../support/service/client.ts'
import { watchHeartbeats } from '../../support/cluster/heartbeats.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import type { ClusterProcess } from '../../support/cluster/cluster.ts'
import { listenTo, speakerAt, storedNumbers, upTo } from '../../support/cluster/numbered-session.ts'
import type { NumberedListener } from '../../support/cluster/numbered-session.ts'
import { numberedAudio } from '../../support/cluster/numbered-words.ts'
import { sendAndResume } from '../../support/cluster/resuming-sender.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { percentile } from '../../support/tools/visibility-delay.ts'

const MINUTES = Number(process.env['STENOLOG_TEST_SOAK_MINUTES'] ?? 1)
const SESSIONS = Number(process.env['STENOLOG_TEST_SOAK_SESSIONS'] ?? 20)
const LISTENERS = 10
const MINUTE = 60_000
const PATIENT = { timeoutMs: 3 * MINUTE }
/** Words that a sender may have said in vain before its socket broke: those of an open phrase, and of what was still on its way. */
const IN_VAIN = 40

/** Seconds that all cores were idle, and all there were. */
const idleAndAll = (): readonly [number, number] => {
  const times = cpus().map(
    ({ times: { user, nice, sys, idle, irq } }) => [idle, user + nice + sys + idle + irq] as const,
  )
  return [times.reduce((sum, [idle]) => sum + idle, 0), times.reduce((sum, [, all]) => sum + all, 0)]
}

/** Objects of a log's lines with this message. */
const linesOf = (log: string, message: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  log.split('\n').filter((line) => line.includes(message)).map((line) => JSON.parse(line) as Record<string, unknown>)

interface Soak {
  readonly processes: ReadonlyArray<ClusterProcess>
  /** Who is killed, in turn. */
  readonly workers: ReadonlyArray<ClusterProcess>
  /** Who has sockets. */
  readonly fronts: readonly [ClusterProcess, ClusterProcess]
  readonly mongoUrl: string
}

/** Ends a worker as `kill -9` does and starts it again once all others know of it. */
const killOnce = async (
  victim: ClusterProcess,
  others: ReadonlyArray<ClusterProcess>,
  incarnation: string,
): Promise<string> => {
  await victim.kill()
  await eventually(() => {
    for (const { log } of others)
      assert.ok(linesOf(log(), 'a member is lost').some((line) => line['incarnation'] === incarnation))
  }, PATIENT)
  const log = victim.log()
  await victim.start()
  await eventually(async () => assert.equal((await fetch(`${victim.url()}/health/ready`)).status, 200), PATIENT)
  return log
}

const longestGap = (times: ReadonlyArray<number>): number =>
  Math.max(...times.map((time, i) => time - (times[i - 1] ?? time)))

/** Sessions of which every word that is told is stored, told once at each listener and in order, and none is missing. */
const soak = async (t: ExecutionContext, { processes, workers, fronts, mongoUrl }: Soak): Promise<void> => {
  const speaker = await speakerAt(fronts[0].url())
  const beats = await watchHeartbeats(mongoUrl)
  t.teardown(beats.stop)
  const audio = numberedAudio((MINUTES + 10) * 120)
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, async (_, index) => {
    const urls = index % 2 === 0 ? fronts.map(({ url }) => url) : fronts.map(({ url }) => url).toReversed()
    const live = await createClient(urls[0]?.() ?? '', speaker.token).createLive({ live_retention: true })
    const listeners = Array.from({ length: LISTENERS }, (__, i) =>
      listenTo(live, i % 2 === 0 ? urls : urls.toReversed()),
    )
    return { live, listeners, sender: await sendAndResume(urls, live, audio) }
  }))
  t.teardown(() => {
    for (const { listeners, sender } of sessions) for (const { stop } of [...listeners, sender]) stop()
    if (!t.passed) for (const { name, log } of processes) console.error(`${name}:\n${log()}`)
  })
  const [idle, all] = idleAndAll()
  const killed = new Set<string>()
  const logs: Array<string> = []
  const begun = performance.now()
  for (let minute = 0; minute < MINUTES; minute += 1) {
    const victim = workers[minute % workers.length] as ClusterProcess
    // The soak's own pace, which no condition tells.
    await delay(Math.max(0, begun + (minute + 0.3) * MINUTE - performance.now()))
    const incarnation = beats.incarnationOf(victim.name)
    killed.add(incarnation)
    logs.push(await killOnce(victim, processes.filter((process) => process !== victim), incarnation))
    await delay(Math.max(0, begun + (minute + 1) * MINUTE - performance.now()))
  }
  const [stillIdle, inAll] = idleAndAll()
  const silences: Array<number> = []
  // Who was killed is at another port.
  const reader = await speakerAt(fronts[0].url())
  for (const { live, listeners, sender } of sessions) {
    const said = await sender.finish()
    t.is(await sender.over, 1000, `live ${live.id}`)
    const stored = await storedNumbers(reader, live)
    for (const listener of listeners) {
      await listener.over
      t.deepEqual(listener.finals(), stored, `live ${live.id}: told and stored`)
    }
    const missing = upTo(said).filter((number) => !stored.includes(number))
    t.deepEqual(
      stored,
      upTo(said).filter((number) => !missing.includes(number)),
      `live ${live.id}: once each, in order`,
    )
    const unexplained = missing.filter(
      (number) => !sender.breaks.some((back) => number < back && number >= back - IN_VAIN),
    )
    t.deepEqual(unexplained, [], `live ${live.id}: missing, without a sender's break (${sender.breaks.join()})`)
    silences.push(longestGap((listeners[0] as NumberedListener).times()))
  }
  logs.push(...processes.map(({ log }) => log()))
  const suspected = logs
    .flatMap((log) => linesOf(log, 'a member is lost'))
    .filter(({ incarnation }) => !killed.has(String(incarnation)))
  t.deepEqual(suspected, [], 'healthy members that were suspected')
  const stalls = logs.flatMap((log) => linesOf(log, 'the event loop was blocked')).map(({ ms }) => Number(ms))
  const busy = 1 - (stillIdle - idle) / (inAll - all)
  t.log(
    `${SESSIONS} sessions with ${LISTENERS} listeners each, ${MINUTES} minutes, ${killed.size} kills; machine ${Math.round(busy * 100)} % busy`,
  )
  t.log(
    `between beats: p50 ${percentile(beats.gaps, 0.5)}, p99 ${percentile(beats.gaps, 0.99)}, most ${Math.max(...beats.gaps)} ms of ${beats.gaps.length}`,
  )
  t.log(
    `longest stall of a loop: ${stalls.length === 0 ? 'below a second' : `${Math.max(...stalls)} ms, of ${stalls.length}`}`,
  )
  t.log(`longest without text: ${(Math.max(...silences) / 1000).toFixed(1)} s`)
}

test.serial('two whole processes: sessions outlive a kill each minute (STENOLOG_TEST_SOAK_MINUTES)', async (t) => {
  t.timeout((MINUTES + 20) * MINUTE)
  const { add, mongo } = await startCluster(t)
  const [one, two] = [await add('one'), await add('two')]
  await soak(t, { processes: [one, two], workers: [two, one], fronts: [one, two], mongoUrl: mongo.url('stenolog') })
})

test.serial(
  'five processes of three roles: sessions outlive a worker killed each minute (STENOLOG_TEST_SOAK_MINUTES)',
  async (t) => {
    t.timeout((MINUTES + 20) * MINUTE)
    const { add, mongo } = await startCluster(t)
    const workers = [await add('worker-1', 'worker'), await add('worker-2', 'worker')]
    const lists = await add('lists', 'projector')
    const fronts = [await add('api-1', 'api'), await add('api-2', 'api')] as const
    await soak(t, { processes: [...workers, lists, ...fronts], workers, fronts, mongoUrl: mongo.url('stenolog') })
  },
)
