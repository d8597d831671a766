import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { JobKind } from '../../domain/jobs/events.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { JobNotFound, JobRunning, JobSubjectInvalid, ModelsElsewhere, Unavailable } from '../errors.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { nextId } from '../log/next-id.ts'
import { originOf } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { Members } from '../ports/peers/members.ts'
import type { Job, JobOrder, JobRunners, JobStatus } from './job.ts'
import { begunJob, createJobLog } from './job-log.ts'
import type { LoggedJob } from './job-log.ts'
import { createRunningJobs } from './running-jobs.ts'
import { shareJobs } from './shared-jobs.ts'

/** What administrators have the service do, one job of a kind at a time. Each beginning and end is an event. */
export interface Jobs {
  readonly start: (
    caller: Caller,
    order: JobOrder,
  ) => TaskEither<JobSubjectInvalid | JobRunning | ModelsElsewhere | Unavailable, Job>
  /** The newest first, whichever processes do them. */
  readonly list: (
    kinds: ReadonlyArray<JobKind>,
    statuses: ReadonlyArray<JobStatus>,
  ) => TaskEither<Unavailable, ReadonlyArray<Job>>
  readonly get: (jobId: number) => TaskEither<JobNotFound | Unavailable, Job>
  /** Resolves once it has ended, or soon after: some steps cannot be broken off. One that has ended stays as it is. */
  readonly cancel: (jobId: number) => TaskEither<JobNotFound | Unavailable, void>
  /** Breaks off what runs here. */
  readonly stop: () => Promise<void>
}

export interface JobsDeps extends WriteDeps {
  readonly logger: Logger
  readonly runners: JobRunners
  readonly members: Pick<Members, 'self' | 'all' | 'onChange' | 'onLost' | 'announce' | 'ownershipProblem'>
  /** Other processes may use the same stores. */
  readonly isShared: boolean
}

const BROKEN_OFF = 'broken off by a restart of the service'

/** What an earlier run of this process left running was broken off by its end; that of others goes on. */
export const openJobs =
  (deps: JobsDeps): TaskEither<Unavailable, Jobs> =>
  async () => {
    const { environment, runners, members, isShared } = deps
    const { name, incarnation } = members.self
    const log = createJobLog(deps)
    const read = await log.refresh()
    if (E.isLeft(read)) return read
    const running = createRunningJobs({ ...deps, log })
    const isBrokenOff = (job: LoggedJob): boolean => job.status === 'running' && (!isShared || job.process === name)
    for (const job of log.all()) if (isBrokenOff(job)) await running.end(job.id, { status: 'failed', detail: BROKEN_OFF })
    const shared = isShared ? shareJobs({ ...deps, log, running }) : null

    const shown = (job: LoggedJob): Job => {
      if (job.status !== 'running') return job
      const told = running.told().find(({ jobId }) => jobId === job.id) ?? shared?.toldOf(job)
      if (told === undefined) return running.withEnd(job)
      const { done, total, detail, at } = told
      return running.withEnd({ ...job, progress: { done, total, detail }, updatedAt: at })
    }

    return E.right({
      start: (caller, order) => async () => {
        const { kind, subject } = order
        const runner = runners[kind]
        if (runner === null) return E.left({ _tag: 'ModelsElsewhere' })
        const problem = runner.problem(order)
        if (problem !== null) return E.left({ _tag: 'JobSubjectInvalid', problem })
        await running.recordEnds()
        const origin = originOf(deps, actorOf(caller))
        const jobId = await nextId(deps)('job', { ...origin, causationId: origin.commandId })()
        if (E.isLeft(jobId)) return jobId
        const beginning = { jobId: jobId.right, kind, subject, process: name, incarnation, at: environment.now() }
        const begun = await log.begin(beginning, origin)
        if (E.isLeft(begun)) return E.left(begun.left._tag === 'KindRunning' ? { _tag: 'JobRunning', kind } : begun.left)
        running.run(jobId.right, order, runner)
        return E.right(begunJob(beginning, origin.actor))
      },
      list: (kinds, statuses) => async () => {
        const fresh = await log.refresh()
        if (E.isLeft(fresh)) return fresh
        const isWanted = ({ kind, status }: Job): boolean =>
          (kinds.length === 0 || kinds.includes(kind)) && (statuses.length === 0 || statuses.includes(status))
        return E.right(log.all().map(shown).filter(isWanted).toReversed())
      },
      get: (jobId) => async () => {
        const fresh = await log.refresh()
        if (E.isLeft(fresh)) return fresh
        const job = log.get(jobId)
        return job === undefined ? E.left({ _tag: 'JobNotFound' }) : E.right(shown(job))
      },
      cancel: (jobId) => async () => {
        running.abort(jobId)
        if (running.isRunning(jobId)) return E.right(await running.whenEnded(jobId))
        const fresh = await log.refresh()
        if (E.isLeft(fresh)) return fresh
        const job = log.get(jobId)
        if (job === undefined) return E.left({ _tag: 'JobNotFound' })
        if (job.status === 'running') await shared?.cancel(jobId)
        return E.right(undefined)
      },
      stop: async () => {
        await running.stop()
        await shared?.stop()
      },
    })
  }
