import assert from 'node:assert/strict'
import { cpus } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { MongoClient } from 'mongodb'
import { createClient } from '../../support/service/client.ts'
import { startCluster, type ClusterProcess } from '../../support/cluster/cluster.ts'
import {
  listenTo, speakerAt, storedNumbers, upTo, type NumberedListener,
} from '../../support/cluster/numbered-session.ts'
import { numberedAudio } from '../../support/cluster/numbered-words.ts'
import { sendAndResume } from '../../support/cluster/resuming-sender.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { percentile } from '../../support/tools/visibility-delay.ts'

/** Much less than the time between two heartbeats. */
const POLL_MS = 100

interface MemberDocument {
  readonly _id: string
  readonly incarnation: string
  readonly beat: number
  readonly seenAt?: Date
}

/** The observed heartbeats of the members. */
interface Heartbeats {
  /** Milliseconds between consecutive heartbeats, by the clock of MongoDB. */
  readonly gaps: ReadonlyArray<number>
  /** The present incarnation (run of the process) of the member with this name. */
  readonly incarnationOf: (name: string) => string
  readonly stop: () => Promise<void>
}

/** Observes the members of a service until `stop`. */
const watchHeartbeats = async (url: string): Promise<Heartbeats> => {
  const client = await new MongoClient(url).connect()
  const members = client.db().collection<MemberDocument>('members')
  const stopped = new AbortController()
  const gaps: Array<number> = []
  const last = new Map<string, MemberDocument>()
  const incarnations = new Map<string, string>()
  const poll = async (): Promise<void> => {
    for (const member of await members.find({}).toArray()) {
      const before = last.get(member.incarnation)
      // When a poll missed heartbeats, the observed time is divided by their number.
      const beats = member.beat - (before?.beat ?? member.beat)
      const passed = (member.seenAt?.getTime() ?? 0) - (before?.seenAt?.getTime() ?? NaN)
      if (beats > 0 && !Number.isNaN(passed)) gaps.push(...Array.from({ length: beats }, () => passed / beats))
      last.set(member.incarnation, member)
      incarnations.set(member._id, member.incarnation)
    }
  }
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      await poll()
      await delay(POLL_MS)
    }
  })()
  return {
    gaps,
    incarnationOf: (name) => incarnations.get(name) ?? '',
    stop: async () => {
      stopped.abort()
      await watching
      await client.close()
    },
  }
}

const MINUTES = Number(process.env['STENOLOG_TEST_SOAK_MINUTES'] ?? 1)
const SESSIONS = Number(process.env['STENOLOG_TEST_SOAK_SESSIONS'] ?? 20)
const LISTENERS = 10
const MINUTE = 60_000
const PATIENT = { timeoutMs: 3 * MINUTE }
/** Number of words that a broken socket may lose: the words of the open phrase and the words on their way. */
const MAX_LOST_WORDS = 40

/** Returns the idle time and the total time of all cores since boot, in milliseconds. */
const idleAndTotalTime = (): readonly [number, number] => {
  const times = cpus().map(
    ({ times: { user, nice, sys, idle, irq } }) => [idle, user + nice + sys + idle + irq] as const,
  )
  return [times.reduce((sum, [idle]) => sum + idle, 0), times.reduce((sum, [, all]) => sum + all, 0)]
}

/** Returns the log lines with this message, as objects. */
const linesOf = (log: string, message: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  log.split('\n').filter((line) => line.includes(message)).map((line) => JSON.parse(line) as Record<string, unknown>)

interface Soak {
  readonly processes: ReadonlyArray<ClusterProcess>
  /** Each minute one of these workers is killed, in turn. */
  readonly workers: ReadonlyArray<ClusterProcess>
  /** The processes that serve clients. */
  readonly fronts: readonly [ClusterProcess, ClusterProcess]
  readonly mongoUrl: string
}

/** Kills a worker, waits until all others have noticed, and starts it again. Returns the log of the killed process. */
const killAndRestart = async (
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

/** Runs sessions while workers are killed. Asserts that listeners and the store have equal words, once and in order. */
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
  const [idleBefore, totalBefore] = idleAndTotalTime()
  const killed = new Set<string>()
  const logs: Array<string> = []
  const startedAt = performance.now()
  for (let minute = 0; minute < MINUTES; minute += 1) {
    const victim = workers[minute % workers.length] as ClusterProcess
    // There is one kill a minute, so the test waits for time and not for a condition.
    await delay(Math.max(0, startedAt + (minute + 0.3) * MINUTE - performance.now()))
    const incarnation = beats.incarnationOf(victim.name)
    killed.add(incarnation)
    logs.push(await killAndRestart(victim, processes.filter((process) => process !== victim), incarnation))
    await delay(Math.max(0, startedAt + (minute + 1) * MINUTE - performance.now()))
  }
  const [idleAfter, totalAfter] = idleAndTotalTime()
  const silences: Array<number> = []
  // A restarted process has a new port.
  const reader = await speakerAt(fronts[0].url())
  for (const { live, listeners, sender } of sessions) {
    const sentWords = await sender.finish()
    t.is(await sender.ended, 1000, `session ${live.id}`)
    const stored = await storedNumbers(reader, live)
    for (const listener of listeners) {
      await listener.ended
      t.deepEqual(listener.finals(), stored, `session ${live.id}: the listener got the stored words`)
    }
    const missing = upTo(sentWords).filter((number) => !stored.includes(number))
    t.deepEqual(
      stored,
      upTo(sentWords).filter((number) => !missing.includes(number)),
      `session ${live.id}: each number is stored once, in order`,
    )
    const unexplained = missing.filter(
      (number) => !sender.breaks.some((resumedAt) => number < resumedAt && number >= resumedAt - MAX_LOST_WORDS),
    )
    t.deepEqual(unexplained, [], `session ${live.id}: missing without a broken sender socket (${sender.breaks.join()})`)
    silences.push(longestGap((listeners[0] as NumberedListener).times()))
  }
  logs.push(...processes.map(({ log }) => log()))
  const suspected = logs
    .flatMap((log) => linesOf(log, 'a member is lost'))
    .filter(({ incarnation }) => !killed.has(String(incarnation)))
  t.deepEqual(suspected, [], 'no healthy member is reported as lost')
  const stalls = logs.flatMap((log) => linesOf(log, 'the event loop was blocked')).map(({ ms }) => Number(ms))
  const busy = 1 - (idleAfter - idleBefore) / (totalAfter - totalBefore)
  t.log(
    `${SESSIONS} sessions with ${LISTENERS} listeners each, ${MINUTES} minutes, ${killed.size} kills; ` +
      `machine ${Math.round(busy * 100)} % busy`,
  )
  t.log(
    `between heartbeats: p50 ${percentile(beats.gaps, 0.5)}, p99 ${percentile(beats.gaps, 0.99)}, ` +
      `longest ${Math.max(...beats.gaps)} ms of ${beats.gaps.length}`,
  )
  t.log(
    `longest blocked event loop: ` +
      (stalls.length === 0 ? 'below a second' : `${Math.max(...stalls)} ms, of ${stalls.length}`),
  )
  t.log(`longest without text: ${(Math.max(...silences) / 1000).toFixed(1)} s`)
}

test.serial('sessions of two processes survive a kill every minute', async (t) => {
  t.timeout((MINUTES + 20) * MINUTE)
  const { add, mongo } = await startCluster(t)
  const [one, two] = [await add('one'), await add('two')]
  await soak(t, { processes: [one, two], workers: [two, one], fronts: [one, two], mongoUrl: mongo.url('stenolog') })
})

test.serial('sessions of five processes with three roles survive a killed worker every minute', async (t) => {
  t.timeout((MINUTES + 20) * MINUTE)
  const { add, mongo } = await startCluster(t)
  const workers = [await add('worker-1', 'worker'), await add('worker-2', 'worker')]
  const lists = await add('lists', 'projector')
  const fronts = [await add('api-1', 'api'), await add('api-2', 'api')] as const
  await soak(t, { processes: [...workers, lists, ...fronts], workers, fronts, mongoUrl: mongo.url('stenolog') })
})
