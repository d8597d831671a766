import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { JobOrder, JobResult, JobRunner } from '../../../../application/jobs/job.ts'
import { openJobs } from '../../../../application/jobs/jobs.ts'
import type { Jobs } from '../../../../application/jobs/jobs.ts'
import type { Announced, Member, Members } from '../../../../application/ports/peers/members.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf } from '../../../support/worlds/token-world.ts'
import { memberNamed } from '../admission/members.ts'

const admin = callerOf(1)
const PULL: JobOrder = { kind: 'pull', subject: 'base', precision: null, force: false }

/** Says how far it is, and goes on until it is told to end or `finish`. */
const scripted = () => {
  const finished = Promise.withResolvers<E.Either<string, JobResult>>()
  let done = 0
  let say: Parameters<JobRunner['run']>[1] = () => undefined
  let isAborted = false
  const runner: JobRunner = {
    problem: () => null,
    run: async (_order, report, signal) => {
      say = report
      signal.addEventListener('abort', () => {
        isAborted = true
        finished.resolve(E.left('given up'))
      })
      return await finished.promise
    },
  }
  return {
    runner, finish: finished.resolve,
    goesOn: () => say({ done: (done += 1), total: 10, detail: 'a file' }),
    isAborted: () => isAborted,
  }
}

/** Processes over one log that see each other as members; one that is cut off sees nobody, and nobody sees it. */
const world = () => {
  const store = createMemoryEventStore()
  const timers = createManualTimers()
  const present = new Map<string, Member>()
  const cutOff = new Set<string>()
  const hearers = new Set<{
    readonly own: string
    readonly change: Set<() => void>
    readonly lost: Set<(member: Member) => void>
  }>()
  const changed = (): void => {
    for (const { change } of hearers) for (const hear of change) hear()
  }
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 250) {
      timers.advance(250)
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    }
  }

  const membersOf = (self: Member): Members => {
    const own = { own: self.incarnation, change: new Set<() => void>(), lost: new Set<(member: Member) => void>() }
    hearers.add(own)
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
      onChange: (hear) => {
        own.change.add(hear)
        return () => void own.change.delete(hear)
      },
      onLost: (hear) => {
        own.lost.add(hear)
        return () => void own.lost.delete(hear)
      },
      announce: (change: Partial<Announced>) => {
        const before = present.get(self.incarnation)
        if (before !== undefined) present.set(self.incarnation, { ...before, ...change })
        changed()
      },
      leave: () => Promise.resolve(),
    }
  }

  const start = async (name: string, pull: JobRunner | null = scripted().runner, run = 1) => {
    const environment = createTestEnvironment()
    const self = memberNamed(name, null, { incarnation: `${name}-${run}` })
    present.set(self.incarnation, self)
    const runners = { pull, verify: null, check: scripted().runner, rebuild: scripted().runner }
    const write = { store, keyring: createMemoryKeyring(), environment, timers }
    const logger = createRecordingLogger()
    const jobs = right(await openJobs({ ...write, logger, runners, members: membersOf(self), isShared: true })())
    return { jobs, self, logger }
  }

  return {
    store, start, pass, present,
    /** Its beats and looks are not answered any more. */
    cut: ({ incarnation }: Member): void => {
      cutOff.add(incarnation)
      changed()
    },
    mend: ({ incarnation }: Member): void => {
      cutOff.delete(incarnation)
      changed()
    },
    lose: (member: Member): void => {
      for (const { own, lost } of hearers) if (own !== member.incarnation) for (const hear of lost) hear(member)
    },
    /** Its entry goes: it left, was killed and forgotten, or another run has its name. */
    gone: ({ incarnation }: Member): void => {
      present.delete(incarnation)
      for (const one of hearers) if (one.own === incarnation) hearers.delete(one)
      changed()
    },
    types: async () => right(await store.read('jobs')()).map(({ type }) => type),
  }
}

const jobOf = async (jobs: Jobs, id: number) => right(await jobs.get(id)())

test('every process shows a job immediately, its progress and its result [R170]', async (t) => {
  const { start, pass } = world()
  const { runner, goesOn, finish } = scripted()
  const [one, other] = [await start('one', runner), await start('other')]
  const { id } = right(await one.jobs.start(admin, PULL)())
  t.like(await jobOf(other.jobs, id), {
    kind: 'pull',
    subject: 'base',
    status: 'running',
    actor: 'user:1',
    process: 'one',
    progress: { done: 0 },
  })
  goesOn()
  await pass(1000)
  const now = await jobOf(one.jobs, id)
  t.deepEqual(now.progress, { done: 1, total: 10, detail: 'a file' })
  t.deepEqual(await jobOf(other.jobs, id), now)
  t.deepEqual(right(await other.jobs.list([], ['running'])()), [now])
  t.deepEqual(await other.jobs.start(admin, PULL)(), E.left({ _tag: 'JobRunning', kind: 'pull' }))

  finish(E.right({ name: 'base' }))
  await pass(250)
  t.like(await jobOf(other.jobs, id), {
    status: 'done',
    result: { name: 'base' },
    progress: { done: 1, total: 10, detail: '' },
  })
  t.deepEqual(await jobOf(other.jobs, id), await jobOf(one.jobs, id))
  t.true(E.isRight(await other.jobs.start(admin, PULL)()), 'another one may begin, here')
})

test('any process can cancel a job, and an ended job stays unchanged [R171]', async (t) => {
  const { start, pass, types, present } = world()
  const { runner, isAborted } = scripted()
  const [one, other] = [await start('one', runner), await start('other')]
  const { id } = right(await one.jobs.start(admin, PULL)())
  const cancelled = other.jobs.cancel(id)()
  // By then it answers in any case.
  await pass(6000)
  right(await cancelled)
  t.true(isAborted())
  for (const { jobs } of [one, other]) t.is((await jobOf(jobs, id)).status, 'cancelled')
  right(await other.jobs.cancel(id)())
  t.deepEqual(await types(), ['JobStarted', 'JobEnded'])
  t.deepEqual(await other.jobs.cancel(4711)(), E.left({ _tag: 'JobNotFound' }))
  await pass(1000)
  t.deepEqual([...present.values()].map(({ jobs }) => jobs), [one, other].map(() => ({ doing: [], cancelling: [] })))
})

test('a starting process ends the jobs of its earlier run and no others', async (t) => {
  const { start, pass, gone } = world()
  const { runner, isAborted } = scripted()
  const [one, other] = [await start('one', runner), await start('other')]
  const pulled = right(await one.jobs.start(admin, PULL)())
  const checked = right(await other.jobs.start(admin, { ...PULL, kind: 'check' })())
  gone(other.self)
  const again = await start('other', null, 2)
  await pass(60_000)
  t.like(await jobOf(again.jobs, checked.id), {
    status: 'failed',
    progress: { detail: 'interrupted by a restart of the service' },
  })
  t.is((await jobOf(again.jobs, pulled.id)).status, 'running')
  t.false(isAborted())
  t.deepEqual(await again.jobs.start(admin, PULL)(), E.left({ _tag: 'ModelsElsewhere' }))
})

test('the job of a lost process has failed once, and the process stops it when it returns', async (t) => {
  const { start, pass, lose, cut, mend, types } = world()
  const { runner, isAborted, goesOn } = scripted()
  const [one, ...others] = [await start('one', runner), await start('two'), await start('three')]
  const { id } = right(await one.jobs.start(admin, PULL)())
  goesOn()
  cut(one.self)
  await pass(4000)
  t.is((await jobOf(one.jobs, id)).status, 'running', 'nobody is lost yet')
  lose(one.self)
  await pass(250)
  for (const { jobs } of others)
    t.like(await jobOf(jobs, id), {
      status: 'failed',
      progress: { detail: 'interrupted: process one was lost' },
    })
  mend(one.self)
  await pass(10_000)
  t.true(isAborted())
  t.deepEqual(await types(), ['JobStarted', 'JobEnded'])
  t.is((await jobOf(one.jobs, id)).status, 'failed')
})

test('the job of a removed member fails after several checks by members sure of their own place', async (t) => {
  const { start, pass, gone, cut, mend, types } = world()
  const [one, other] = [await start('one'), await start('other')]
  const { id } = right(await one.jobs.start(admin, PULL)())
  await pass(60_000)
  t.deepEqual(await types(), ['JobStarted'], 'it is there')
  cut(other.self)
  gone(one.self)
  await pass(60_000)
  t.deepEqual(await types(), ['JobStarted'], 'who sees nobody says nothing')
  mend(other.self)
  await pass(10_000)
  t.is((await jobOf(other.jobs, id)).status, 'running', 'one look is not enough')
  await pass(15_000)
  t.is((await jobOf(other.jobs, id)).status, 'failed')
})

test('a job of an older version fails once no member can be running it', async (t) => {
  const { store, start, pass, present, gone } = world()
  const older = memberNamed('older', null)
  present.set(older.incarnation, older)
  const at = '2026-11-21T09:30:00.123456+00:00'
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'user:1', recordedAt: at }
  const begun = {
    id: '0195f3a0-7c1e-7d10-8a55-1b2c3d4e5f60',
    type: 'JobStarted',
    data: { jobId: 1, kind: 'check', subject: null, at },
    metadata,
  }
  right(await store.append('jobs', 'no-stream', [begun])())
  const { jobs } = await start('one')
  await pass(60_000)
  t.like(await jobOf(jobs, 1), { status: 'running', process: null })
  gone(older)
  await pass(30_000)
  t.like(await jobOf(jobs, 1), {
    status: 'failed',
    progress: { detail: 'interrupted: its process was lost' },
  })
})
