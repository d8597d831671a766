import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { JobKind } from '../../domain/jobs/events.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { JobNotFound, JobRunning, JobSubjectInvalid, ModelsElsewhere, Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { nextId } from '../log/next-id.ts'
import { originOf } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { Members } from '../ports/members.ts'
import type { Job, JobOrder, JobRunners, JobStatus } from './job.ts'
import { createJobLog, type LoggedJob, startedJob } from './job-log.ts'
import { createRunningJobs } from './running-jobs.ts'
import { shareJobs } from './shared-jobs.ts'

/** Long tasks of administrators, one job of each kind at a time. Starts and ends of jobs are events. */
export interface Jobs {
  readonly start: (
    caller: Caller,
    order: JobOrder,
  ) => Promise<Either<JobSubjectInvalid | JobRunning | ModelsElsewhere | Unavailable, Job>>
  /** Lists the jobs of all processes, newest first. Empty lists mean all kinds and all statuses. */
  readonly list: (
    kinds: ReadonlyArray<JobKind>,
    statuses: ReadonlyArray<JobStatus>,
  ) => Promise<Either<Unavailable, ReadonlyArray<Job>>>
  readonly get: (jobId: number) => Promise<Either<JobNotFound | Unavailable, Job>>
  /** Cancels a job. Resolves when it has ended, or after a few seconds, because some steps cannot be interrupted. */
  readonly cancel: (jobId: number) => Promise<Either<JobNotFound | Unavailable, void>>
  /** Interrupts the jobs of this process. */
  readonly stop: () => Promise<void>
}

export interface JobsDeps extends WriteDeps {
  readonly logger: Logger
  readonly runners: JobRunners
  readonly members: Pick<Members, 'self' | 'all' | 'onChange' | 'onLost' | 'announce' | 'ownershipProblem'>
  /** True: other processes may use the same stores. */
  readonly isShared: boolean
}

const INTERRUPTED = 'interrupted by a restart of the service'

/** Opens the jobs. Unfinished jobs of an earlier run of this process have failed. Jobs of other processes continue. */
export const openJobs =
  async (deps: JobsDeps): Promise<Either<Unavailable, Jobs>> => {
    const { environment, runners, members, isShared } = deps
    const { name, incarnation } = members.self
    const log = createJobLog(deps)
    const read = await log.refresh()
    if (E.isLeft(read)) return read
    const running = createRunningJobs({ ...deps, log })
    const isInterrupted = (job: LoggedJob): boolean => job.status === 'running' && (!isShared || job.process === name)
    for (const job of log.all().filter(isInterrupted))
      await running.recordEnd(job.id, { status: 'failed', detail: INTERRUPTED })
    const shared = isShared ? shareJobs({ ...deps, log, running }) : null

    const withProgress = (job: LoggedJob): Job => {
      if (job.status !== 'running') return job
      const progress = running.progress().find(({ jobId }) => jobId === job.id) ?? shared?.publishedProgressOf(job)
      if (progress === undefined) return running.withEnd(job)
      const { done, total, detail, at } = progress
      return running.withEnd({ ...job, progress: { done, total, detail }, updatedAt: at })
    }
    const find = async (jobId: number): Promise<Either<JobNotFound | Unavailable, LoggedJob>> => {
      const refreshed = await log.refresh()
      if (E.isLeft(refreshed)) return refreshed
      return E.fromNullable<JobNotFound>({ _tag: 'JobNotFound' })(log.get(jobId))
    }

    return E.right({
      start: async (caller, order) => {
        const { kind, subject } = order
        const runner = runners[kind]
        if (runner === null) return E.left({ _tag: 'ModelsElsewhere' })
        const problem = runner.problem(order)
        if (problem !== null) return E.left({ _tag: 'JobSubjectInvalid', problem })
        await running.recordEnds()
        const origin = originOf(deps, actorOf(caller))
        const jobId = await nextId(deps)('job', { ...origin, causationId: origin.commandId })
        if (E.isLeft(jobId)) return jobId
        const start = { jobId: jobId.right, kind, subject, process: name, incarnation, at: environment.now() }
        const begun = await log.begin(start, origin)
        if (E.isLeft(begun))
          return E.left(begun.left._tag === 'KindRunning' ? { _tag: 'JobRunning', kind } : begun.left)
        running.run(jobId.right, order, runner)
        return E.right(startedJob(start, origin.actor))
      },
      list: async (kinds, statuses) => {
        const isWanted = ({ kind, status }: Job): boolean =>
          (kinds.length === 0 || kinds.includes(kind)) && (statuses.length === 0 || statuses.includes(status))
        return pipe(await log.refresh(), E.map(() => log.all().map(withProgress).filter(isWanted).toReversed()))
      },
      get: async (jobId) => pipe(await find(jobId), E.map(withProgress)),
      cancel: async (jobId) => {
        running.cancel(jobId)
        if (running.isRunning(jobId)) return E.right(await running.whenEnded(jobId))
        const job = await find(jobId)
        if (E.isLeft(job)) return job
        if (job.right.status === 'running') await shared?.cancel(jobId)
        return E.right(undefined)
      },
      stop: async () => {
        await running.stop()
        await shared?.stop()
      },
    })
  }
