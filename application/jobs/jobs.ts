import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { jobsDecider } from '../../domain/jobs/decider.ts'
import type { JobCommand } from '../../domain/jobs/decider.ts'
import { JobEnded, JobStarted, JOBS_STREAM } from '../../domain/jobs/events.ts'
import type { JobKind } from '../../domain/jobs/events.ts'
import { reading } from '../../domain/read-event.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { JobNotFound, JobRunning, JobSubjectInvalid, Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { nextId } from '../log/next-id.ts'
import { originOf, ownOrigin } from '../log/origin.ts'
import type { Origin } from '../log/origin.ts'
import { readAround } from '../log/read-around.ts'
import type { Logger } from '../ports/environment.ts'
import type { StoredEvent } from '../ports/event-store.ts'
import { createTurns } from '../turns.ts'
import { atMost } from '../waiting.ts'
import type { Job, JobOrder, JobProgress, JobResult, JobRunners, JobStatus } from './job.ts'

/** What administrators have the service do, one job of a kind at a time. Each beginning and end is an event. */
export interface Jobs {
  readonly start: (
    caller: Caller,
    order: JobOrder,
  ) => TaskEither<JobSubjectInvalid | JobRunning | Unavailable, Job>
  /** The newest first. */
  readonly list: (kinds: ReadonlyArray<JobKind>, statuses: ReadonlyArray<JobStatus>) => ReadonlyArray<Job>
  readonly get: (jobId: number) => Either<JobNotFound, Job>
  /** Resolves once it has ended, or soon after: some steps cannot be broken off. One that has ended stays as it is. */
  readonly cancel: (jobId: number) => TaskEither<JobNotFound, void>
  /** Breaks off what runs. */
  readonly stop: () => Promise<void>
}

export interface JobsDeps extends WriteDeps {
  readonly logger: Logger
  readonly runners: JobRunners
}

interface Running {
  readonly aborting: AbortController
  readonly ended: Promise<void>
}

/** Of finished jobs so many are remembered, here and in the log. */
const MOST = 200
const MOST_EVENTS = 2 * MOST
/** Time for a job to end once it was told to. */
const CANCEL_MS = 5000
const BROKEN_OFF = 'broken off by a restart of the service'
const STOPPED = 'broken off: the service stopped'
const NOTHING_DONE: JobProgress = { done: 0, total: null, detail: '' }

const started = reading([JobStarted])
const ended = reading([JobEnded])

/** Jobs by their ids, as the log tells them. */
const foldJobs = (events: ReadonlyArray<StoredEvent>): Map<number, Job> => {
  const jobs = new Map<number, Job>()
  for (const event of events) {
    const begun = started(event)?.data
    const over = ended(event)?.data
    if (begun !== undefined) {
      const { jobId: id, kind, subject, at } = begun
      const { actor } = event.metadata
      const none = { status: 'running', progress: NOTHING_DONE, result: null } as const
      jobs.set(id, { id, kind, subject, ...none, actor, createdAt: at, updatedAt: at })
    }
    const job = over && jobs.get(over.jobId)
    if (job !== undefined && over !== undefined) {
      const { status, done, total, detail, result, at } = over
      jobs.set(job.id, { ...job, status, progress: { done, total, detail }, result, updatedAt: at })
    }
  }
  return jobs
}

/** What an earlier process left running was broken off by its end. */
export const openJobs =
  (deps: JobsDeps): TaskEither<Unavailable, Jobs> =>
  async () => {
    const { store, environment, timers, logger, runners } = deps
    const read = await readAround(store, JOBS_STREAM)()
    if (E.isLeft(read)) return read
    const jobs = foldJobs(read.right.events)
    const running = new Map<number, Running>()
    const inTurn = createTurns()
    /** Ends that the store has not taken yet. */
    const unrecorded = new Map<number, JobCommand>()
    let isStopping = false

    const send = (command: JobCommand, origin: Origin) =>
      inTurn(JOBS_STREAM, handleCommand(deps)({ ...origin, stream: JOBS_STREAM, decider: jobsDecider, command }))

    /** Until its end is in the log no other job of the kind may begin. */
    const recordEnds = async (): Promise<void> => {
      for (const [jobId, command] of unrecorded) {
        const written = await send(command, ownOrigin(deps))
        if (E.isRight(written)) unrecorded.delete(jobId)
        else logger.error({ jobId, reason: written.left._tag }, 'the end of a job could not be recorded')
      }
    }

    const update = (jobId: number, change: Partial<Job>): void => {
      const job = jobs.get(jobId)
      if (job !== undefined) jobs.set(jobId, { ...job, updatedAt: environment.now(), ...change })
      const [oldest] = jobs.keys()
      if (jobs.size > MOST && oldest !== undefined && !running.has(oldest)) jobs.delete(oldest)
    }

    const end = async (
      jobId: number,
      status: Exclude<JobStatus, 'running'>,
      detail: string,
      result: JobResult | null = null,
    ): Promise<void> => {
      const { done, total } = jobs.get(jobId)?.progress ?? NOTHING_DONE
      const at = environment.now()
      const data = { jobId, status, done, total, detail, result, at }
      unrecorded.set(jobId, { type: 'End', data })
      await recordEnds()
      update(jobId, { status, progress: { done, total, detail }, result, updatedAt: at })
      await store.setMetadata(JOBS_STREAM, { maxCount: MOST_EVENTS })()
    }

    const run = async (jobId: number, order: JobOrder, signal: AbortSignal): Promise<void> => {
      const report = (progress: Partial<JobProgress>): void => {
        const before = jobs.get(jobId)?.progress ?? NOTHING_DONE
        update(jobId, { progress: { ...before, ...progress } })
      }
      const working = runners[order.kind].run(order, report, signal)
      const outcome = await working.catch((error: unknown) => E.left(messageOf(error)))
      if (E.isRight(outcome)) await end(jobId, 'done', '', outcome.right)
      else if (isStopping) await end(jobId, 'failed', STOPPED)
      else if (signal.aborted) await end(jobId, 'cancelled', '')
      else await end(jobId, 'failed', outcome.left)
      running.delete(jobId)
    }

    for (const { id, status } of jobs.values()) if (status === 'running') await end(id, 'failed', BROKEN_OFF)

    return E.right({
      start: (caller, order) => async () => {
        const problem = runners[order.kind].problem(order)
        if (problem !== null) return E.left({ _tag: 'JobSubjectInvalid', problem })
        await recordEnds()
        const origin = originOf(deps, actorOf(caller))
        const jobId = await nextId(deps)('job', { ...origin, causationId: origin.commandId })()
        if (E.isLeft(jobId)) return jobId
        const { kind, subject } = order
        const at = environment.now()
        const begun = await send({ type: 'Start', data: { jobId: jobId.right, kind, subject, at } }, origin)
        if (E.isLeft(begun)) return E.left(begun.left._tag === 'KindRunning' ? { _tag: 'JobRunning', kind } : begun.left)
        const job: Job = {
          id: jobId.right, kind, subject, status: 'running', progress: NOTHING_DONE, result: null, actor: origin.actor,
          createdAt: at, updatedAt: at,
        }
        jobs.set(job.id, job)
        const aborting = new AbortController()
        running.set(job.id, { aborting, ended: run(job.id, order, aborting.signal) })
        return E.right(job)
      },
      list: (kinds, statuses) =>
        [...jobs.values()].toReversed().filter(({ kind, status }) =>
          (kinds.length === 0 || kinds.includes(kind)) && (statuses.length === 0 || statuses.includes(status))),
      get: (jobId) => E.fromNullable<JobNotFound>({ _tag: 'JobNotFound' })(jobs.get(jobId)),
      cancel: (jobId) => async () => {
        if (!jobs.has(jobId)) return E.left({ _tag: 'JobNotFound' })
        const one = running.get(jobId)
        one?.aborting.abort()
        if (one !== undefined) await atMost(timers, CANCEL_MS, one.ended)
        return E.right(undefined)
      },
      stop: async () => {
        isStopping = true
        for (const { aborting } of running.values()) aborting.abort()
        await atMost(timers, CANCEL_MS, Promise.all([...running.values()].map((one) => one.ended)))
      },
    })
  }
