import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { JobOrder, JobResult, JobRunner } from '../../../../application/jobs/job.ts'
import { openJobs, type Jobs } from '../../../../application/jobs/jobs.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf } from '../../../support/worlds/token-world.ts'
import { memberNamed } from '../admission/members.ts'
import type { Announced, Member, Members } from '../../../../application/ports/members.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'

/** A runner that reports progress and runs until its abort signal or `finish`. */
const createScriptedRunner = () => {
  const finished = Promise.withResolvers<E.Either<string, JobResult>>()
  let done = 0
  let reportProgress: Parameters<JobRunner['run']>[1] = () => undefined
  let isAborted = false
  const runner: JobRunner = {
    problem: () => null,
    run: async (_order, report, signal) => {
      reportProgress = report
      signal.addEventListener('abort', () => {
        isAborted = true
        finished.resolve(E.left('aborted'))
      })
      return await finished.promise
    },
  }
  return {
    runner, finish: finished.resolve,
    advance: () => reportProgress({ done: (done += 1), total: 10, detail: 'a file' }),
    isAborted: () => isAborted,
  }
}

/** Processes on one log that see each other as members. A process that is cut off sees no others and is not seen. */
const createJobsWorld = () => {
  const store = createMemoryEventStore()
  const timers = createManualTimers()
  const present = new Map<string, Member>()
  const cutOff = new Set<string>()
  const subscribers = new Set<{
    readonly own: string
    readonly change: Set<() => void>
    readonly lost: Set<(member: Member) => void>
  }>()
  const changed = (): void => {
    for (const { change } of subscribers) for (const listener of change) listener()
  }
  /** Advances the clock in steps of 250 ms and lets the pending work of each step run. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 250) {
      timers.advance(250)
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    }
  }

  const membersOf = (self: Member): Members => {
    const own = { own: self.incarnation, change: new Set<() => void>(), lost: new Set<(member: Member) => void>() }
    subscribers.add(own)
    return {
      self,
      replaced: new Promise(() => undefined),
      ownershipProblem: () =>
        Promise.resolve(cutOff.has(self.incarnation) || !present.has(self.incarnation) ? 'cut off' : null),
      all: () =>
        [...present.values()].filter(
          ({ incarnation }) =>
            incarnation === self.incarnation || (!cutOff.has(self.incarnation) && !cutOff.has(incarnation)),
        ),
      onChange: (listener) => {
        own.change.add(listener)
        return () => void own.change.delete(listener)
      },
      onLost: (listener) => {
        own.lost.add(listener)
        return () => void own.lost.delete(listener)
      },
      announce: (change: Partial<Announced>) => {
        const before = present.get(self.incarnation)
        if (before !== undefined) present.set(self.incarnation, { ...before, ...change })
        changed()
      },
      leave: () => Promise.resolve(),
    }
  }

  const start = async (name: string, pull: JobRunner | null = createScriptedRunner().runner, run = 1) => {
    const environment = createTestEnvironment()
    const self = memberNamed(name, null, { incarnation: `${name}-${run}` })
    present.set(self.incarnation, self)
    const runners = { pull, verify: null, check: createScriptedRunner().runner, rebuild: createScriptedRunner().runner }
    const write = { store, keyring: createMemoryKeyring(), environment, timers }
    const logger = createRecordingLogger()
    const jobs = right(await openJobs({ ...write, logger, runners, members: membersOf(self), isShared: true }))
    return { jobs, self, logger }
  }

  return {
    store, start, pass, present,
    /** Cuts a process off: its heartbeats and member reads are not answered. */
    cut: ({ incarnation }: Member): void => {
      cutOff.add(incarnation)
      changed()
    },
    /** Ends `cut`. */
    mend: ({ incarnation }: Member): void => {
      cutOff.delete(incarnation)
      changed()
    },
    /** Reports a member as lost to all other processes. */
    lose: (member: Member): void => {
      for (const { own, lost } of subscribers)
        if (own !== member.incarnation) for (const listener of lost) listener(member)
    },
    /** Removes the entry of a process: it left, was killed, or restarted under its name. */
    remove: ({ incarnation }: Member): void => {
      present.delete(incarnation)
      for (const subscriber of subscribers) if (subscriber.own === incarnation) subscribers.delete(subscriber)
      changed()
    },
    types: async () => right(await store.read('jobs')).map(({ type }) => type),
  }
}

const admin = callerOf(1)
const PULL: JobOrder = { kind: 'pull', subject: 'base', precision: null, force: false }

const jobOf = async (jobs: Jobs, id: number) => right(await jobs.get(id))

test('every process shows a job immediately, its progress and its result', async (t) => {
  const { start, pass } = createJobsWorld()
  const { runner, advance, finish } = createScriptedRunner()
  const [first, second] = [await start('first', runner), await start('second')]
  const { id } = right(await first.jobs.start(admin, PULL))
  t.like(await jobOf(second.jobs, id), {
    kind: 'pull',
    subject: 'base',
    status: 'running',
    actor: 'user:1',
    process: 'first',
    progress: { done: 0 },
  })
  advance()
  await pass(1000)
  const now = await jobOf(first.jobs, id)
  t.deepEqual(now.progress, { done: 1, total: 10, detail: 'a file' })
  t.deepEqual(await jobOf(second.jobs, id), now)
  t.deepEqual(right(await second.jobs.list([], ['running'])), [now])
  t.deepEqual(await second.jobs.start(admin, PULL), E.left({ _tag: 'JobRunning', kind: 'pull' }))

  finish(E.right({ name: 'base' }))
  await pass(250)
  t.like(await jobOf(second.jobs, id), {
    status: 'done',
    result: { name: 'base' },
    progress: { done: 1, total: 10, detail: '' },
  })
  t.deepEqual(await jobOf(second.jobs, id), await jobOf(first.jobs, id))
  t.true(E.isRight(await second.jobs.start(admin, PULL)), 'another job may begin, also in another process')
})

test('any process can cancel a job, and an ended job stays unchanged', async (t) => {
  const { start, pass, types, present } = createJobsWorld()
  const { runner, isAborted } = createScriptedRunner()
  const [first, second] = [await start('first', runner), await start('second')]
  const { id } = right(await first.jobs.start(admin, PULL))
  const cancelled = second.jobs.cancel(id)
  // The cancel is answered within 6 s in any case.
  await pass(6000)
  right(await cancelled)
  t.true(isAborted())
  for (const { jobs } of [first, second]) t.is((await jobOf(jobs, id)).status, 'cancelled')
  right(await second.jobs.cancel(id))
  t.deepEqual(await types(), ['JobStarted', 'JobEnded'])
  t.deepEqual(await second.jobs.cancel(4711), E.left({ _tag: 'JobNotFound' }))
  await pass(1000)
  t.deepEqual([...present.values()].map(({ jobs }) => jobs), [first, second].map(() => ({ doing: [], cancelling: [] })))
})

test('a starting process ends the jobs of its earlier run and no others', async (t) => {
  const { start, pass, remove } = createJobsWorld()
  const { runner, isAborted } = createScriptedRunner()
  const [first, second] = [await start('first', runner), await start('second')]
  const pulled = right(await first.jobs.start(admin, PULL))
  const checked = right(await second.jobs.start(admin, { ...PULL, kind: 'check' }))
  remove(second.self)
  const restarted = await start('second', null, 2)
  await pass(60_000)
  t.like(await jobOf(restarted.jobs, checked.id), {
    status: 'failed',
    progress: { detail: 'interrupted by a restart of the service' },
  })
  t.is((await jobOf(restarted.jobs, pulled.id)).status, 'running')
  t.false(isAborted())
  t.deepEqual(await restarted.jobs.start(admin, PULL), E.left({ _tag: 'ModelsElsewhere' }))
})

test('the job of a lost process fails once, and the process stops it when it returns', async (t) => {
  const { start, pass, lose, cut, mend, types } = createJobsWorld()
  const { runner, isAborted, advance } = createScriptedRunner()
  const [first, ...others] = [await start('first', runner), await start('second'), await start('third')]
  const { id } = right(await first.jobs.start(admin, PULL))
  advance()
  cut(first.self)
  await pass(4000)
  t.is((await jobOf(first.jobs, id)).status, 'running', 'no process is lost yet')
  lose(first.self)
  await pass(250)
  for (const { jobs } of others)
    t.like(await jobOf(jobs, id), { status: 'failed', progress: { detail: 'interrupted: process first was lost' } })
  mend(first.self)
  await pass(10_000)
  t.true(isAborted())
  t.deepEqual(await types(), ['JobStarted', 'JobEnded'])
  t.is((await jobOf(first.jobs, id)).status, 'failed')
})

test('the job of a removed member fails after several checks by a member that is not cut off', async (t) => {
  const { start, pass, remove, cut, mend, types } = createJobsWorld()
  const [first, second] = [await start('first'), await start('second')]
  const { id } = right(await first.jobs.start(admin, PULL))
  await pass(60_000)
  t.deepEqual(await types(), ['JobStarted'], 'the member is present')
  cut(second.self)
  remove(first.self)
  await pass(60_000)
  t.deepEqual(await types(), ['JobStarted'], 'a process that is cut off ends no jobs')
  mend(second.self)
  await pass(10_000)
  t.is((await jobOf(second.jobs, id)).status, 'running', 'one check is not enough')
  await pass(15_000)
  t.is((await jobOf(second.jobs, id)).status, 'failed')
})

test('a job of an older version fails once no member can be running it', async (t) => {
  const { store, start, pass, present, remove } = createJobsWorld()
  const older = memberNamed('older', null)
  present.set(older.incarnation, older)
  const at = '2026-11-21T09:30:00.123456+00:00'
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'user:1', recordedAt: at }
  const startedEvent = {
    id: '0195f3a0-7c1e-7d10-8a55-1b2c3d4e5f60',
    type: 'JobStarted',
    data: { jobId: 1, kind: 'check', subject: null, at },
    metadata,
  }
  right(await store.append('jobs', 'no-stream', [startedEvent]))
  const { jobs } = await start('first')
  await pass(60_000)
  t.like(await jobOf(jobs, 1), { status: 'running', process: null })
  remove(older)
  await pass(30_000)
  t.like(await jobOf(jobs, 1), { status: 'failed', progress: { detail: 'interrupted: its process was lost' } })
})
