import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { JobOrder, JobRunner } from '../../../../application/jobs/job.ts'
import { openJobs, type Jobs } from '../../../../application/jobs/jobs.ts'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { embeddedMembers } from '../../../../infrastructure/embedded-members.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { PROFILE } from '../../../support/worlds/members-world.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { callerOf } from '../../../support/worlds/token-world.ts'

const admin = callerOf(1)
const order = (kind: JobOrder['kind'], subject: string | null = null): JobOrder => ({
  kind,
  subject,
  precision: null,
  force: false,
})

/** A runner that waits for its abort signal or for `finish`. */
const waiting = () => {
  const finished = Promise.withResolvers<E.Either<string, Readonly<Record<string, unknown>>>>()
  const runner: JobRunner = {
    problem: ({ subject }) => (subject === 'invalid' ? 'should be something' : null),
    run: async (_order, report, signal) => {
      report({ done: 3, total: 10, detail: 'a file' })
      signal.addEventListener('abort', () => finished.resolve(E.left('aborted')))
      return await finished.promise
    },
  }
  return { runner, finish: finished.resolve }
}

const open = async (pull: JobRunner, store: EventStore = createMemoryEventStore()): Promise<Jobs> => {
  const broken: JobRunner = { problem: () => null, run: () => Promise.reject(new Error('the runner failed')) }
  const runners = { pull, verify: broken, check: waiting().runner, rebuild: waiting().runner }
  const write = { store, keyring: createMemoryKeyring(), environment: createTestEnvironment(), timers: immediateTimers }
  const members = embeddedMembers({ name: 'local', incarnation: write.environment.instance }, PROFILE)
  return right(await openJobs({ ...write, logger: createRecordingLogger(), runners, members, isShared: false }))
}

const jobOf = async (jobs: Jobs, id: number) => right(await jobs.get(id))
const listed = async (jobs: Jobs, ...[kinds = [], statuses = []]: Partial<Parameters<Jobs['list']>>) =>
  right(await jobs.list(kinds, statuses))

const untilOver = (jobs: Jobs, id: number) =>
  eventually(async () => {
    const job = await jobOf(jobs, id)
    if (job.status === 'running') throw new Error('the job still runs')
    return job
  })

test('a job reports its progress and its result, and one job of a kind runs at a time', async (t) => {
  const { runner, finish } = waiting()
  const jobs = await open(runner)
  t.deepEqual(
    await jobs.start(admin, order('pull', 'invalid')),
    E.left({ _tag: 'JobSubjectInvalid', problem: 'should be something' }),
  )
  const { id } = right(await jobs.start(admin, order('pull', 'base')))
  t.like((await jobOf(jobs, id)), { kind: 'pull', subject: 'base', status: 'running', actor: 'user:1', result: null })
  t.deepEqual((await jobOf(jobs, id)).progress, { done: 3, total: 10, detail: 'a file' })
  t.deepEqual(await jobs.start(admin, order('pull', 'tiny')), E.left({ _tag: 'JobRunning', kind: 'pull' }))
  finish(E.right({ name: 'base' }))
  t.like(await untilOver(jobs, id), {
    status: 'done',
    result: { name: 'base' },
    progress: { done: 3, total: 10, detail: '' },
  })
  const next = right(await jobs.start(admin, order('verify')))
  t.like(await untilOver(jobs, next.id), { status: 'failed', progress: { detail: 'the runner failed' }, result: null })
  t.deepEqual((await listed(jobs)).map(({ kind }) => kind), ['verify', 'pull'])
  t.deepEqual((await listed(jobs, ['pull', 'check'], ['done'])).map(({ kind }) => kind), ['pull'])
  t.deepEqual(await listed(jobs, [], ['running']), [])
  t.deepEqual(await jobs.get(4711), E.left({ _tag: 'JobNotFound' }))
})

test('a job can be cancelled, and an ended job stays unchanged', async (t) => {
  const jobs = await open(waiting().runner)
  const { id } = right(await jobs.start(admin, order('pull', 'base')))
  right(await jobs.cancel(id))
  t.like((await jobOf(jobs, id)), { status: 'cancelled', result: null })
  right(await jobs.cancel(id))
  t.is((await jobOf(jobs, id)).status, 'cancelled')
  t.deepEqual(await jobs.cancel(4711), E.left({ _tag: 'JobNotFound' }))
})

test('a job interrupted by a stop or a kill has failed, and the next process knows all jobs', async (t) => {
  const store = createMemoryEventStore()
  const before = await open(waiting().runner, store)
  const stopped = right(await before.start(admin, order('pull', 'base')))
  await before.stop()
  const killed = right(await before.start(admin, order('check')))
  const after = await open(waiting().runner, store)
  t.deepEqual((await listed(after)).map(({ id, status, actor, progress }) => [id, status, actor, progress.detail]), [
    [killed.id, 'failed', 'user:1', 'interrupted by a restart of the service'],
    [stopped.id, 'failed', 'user:1', 'interrupted: the service stopped'],
  ])
  t.true(E.isRight(await after.start(admin, order('check'))), 'another job of the kind may begin')
})

test('a job end that the store refused is recorded before another job of the kind begins', async (t) => {
  const store = createMemoryEventStore()
  let isUnavailable = false
  const append: EventStore['append'] = async (...args) =>
    isUnavailable ? E.left({ _tag: 'StoreUnavailable', reason: 'the store is unavailable' }) : store.append(...args)
  const { runner, finish } = waiting()
  const jobs = await open(runner, { ...store, append })
  const { id } = right(await jobs.start(admin, order('pull', 'base')))
  isUnavailable = true
  finish(E.right({}))
  t.is((await untilOver(jobs, id)).status, 'done')
  t.like(await jobs.start(admin, order('pull', 'base')), { left: { _tag: 'StoreUnavailable' } })
  isUnavailable = false
  t.true(E.isRight(await jobs.start(admin, order('pull', 'base'))))
  t.deepEqual(right(await store.read('jobs')).map(({ type }) => type), ['JobStarted', 'JobEnded', 'JobStarted'])
})
