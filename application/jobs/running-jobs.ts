import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../domain/shared/message-of.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { PublishedJob } from '../ports/members.ts'
import type { Timers } from '../ports/timers.ts'
import { atMost } from '../waiting.ts'
import { type Job, type JobOrder, type JobProgress, type JobResult, type JobRunner, NOTHING_DONE } from './job.ts'
import { endedJob, type Ending, type JobLog } from './job-log.ts'

export interface RunningJobs {
  readonly run: (jobId: number, order: JobOrder, runner: JobRunner) => void
  readonly isRunning: (jobId: number) => boolean
  readonly progress: () => ReadonlyArray<PublishedJob>
  /** If the job has ended but its end is not in the log yet, returns the ended job. Otherwise returns it unchanged. */
  readonly withEnd: (job: Job) => Job
  /** Cancels a job that runs in this process. It ends as soon as possible. */
  readonly cancel: (jobId: number) => void
  /** Resolves when the job has ended, or after CANCEL_MS. */
  readonly whenEnded: (jobId: number) => Promise<void>
  /** Cancels the jobs that another process has ended in the log, because it considered this process lost. */
  readonly cancelEnded: () => void
  /** Records the end of a job that this process does not run. */
  readonly recordEnd: (jobId: number, how: Pick<Ending, 'status' | 'detail'>) => Promise<void>
  /** Writes each end that is not in the log yet. Until then no other job of the same kind can start. */
  readonly recordEnds: () => Promise<void>
  readonly stop: () => Promise<void>
}

interface RunningJobsDeps {
  readonly log: JobLog
  readonly environment: Pick<Environment, 'now'>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'error'>
}

type Outcome = Pick<Ending, 'status' | 'detail' | 'result'>

interface Running {
  readonly aborting: AbortController
  readonly ended: Promise<void>
}

/** Maximum wait for the end of a cancelled job. */
export const CANCEL_MS = 5000
const STOPPED = 'interrupted: the service stopped'

export const createRunningJobs = ({ log, environment, timers, logger }: RunningJobsDeps): RunningJobs => {
  const running = new Map<number, Running>()
  const progress = new Map<number, JobProgress & { readonly at: string }>()
  /** Ends that are not in the log yet. */
  const unrecorded = new Map<number, Ending>()
  let isStopping = false

  const recordEnds = async (): Promise<void> => {
    for (const [jobId, ending] of unrecorded) {
      const written = await log.end(ending)
      if (E.isRight(written)) unrecorded.delete(jobId)
      else logger.error({ jobId, reason: written.left._tag }, 'end of a job could not be recorded')
    }
  }

  const end = async (jobId: number, { status, detail, result }: Outcome): Promise<void> => {
    const { done, total } = progress.get(jobId) ?? NOTHING_DONE
    unrecorded.set(jobId, { jobId, status, done, total, detail, result, at: environment.now() })
    await recordEnds()
  }

  const outcomeOf = (result: E.Either<string, JobResult>, signal: AbortSignal): Outcome => {
    if (E.isRight(result)) return { status: 'done', detail: '', result: result.right }
    if (isStopping) return { status: 'failed', detail: STOPPED, result: null }
    if (signal.aborted) return { status: 'cancelled', detail: '', result: null }
    return { status: 'failed', detail: result.left, result: null }
  }

  const work = async (jobId: number, order: JobOrder, runner: JobRunner, signal: AbortSignal): Promise<void> => {
    const report = (change: Partial<JobProgress>): void => {
      const before = progress.get(jobId) ?? NOTHING_DONE
      progress.set(jobId, { ...before, ...change, at: environment.now() })
    }
    const outcome = await runner.run(order, report, signal).catch((error: unknown) => E.left(messageOf(error)))
    await end(jobId, outcomeOf(outcome, signal))
    progress.delete(jobId)
    running.delete(jobId)
  }

  return {
    run: (jobId, order, runner) => {
      const aborting = new AbortController()
      running.set(jobId, { aborting, ended: work(jobId, order, runner, aborting.signal) })
    },
    isRunning: (jobId) => running.has(jobId),
    progress: () => [...progress].map(([jobId, { done, total, detail, at }]) => ({ jobId, done, total, detail, at })),
    withEnd: (job) => {
      const ending = unrecorded.get(job.id)
      return ending === undefined || job.status !== 'running' ? job : endedJob(job, ending)
    },
    cancel: (jobId) => running.get(jobId)?.aborting.abort(),
    whenEnded: async (jobId) => atMost(timers, CANCEL_MS, running.get(jobId)?.ended ?? Promise.resolve()),
    cancelEnded: () => {
      const hasEnded = (jobId: number): boolean => (log.get(jobId)?.status ?? 'running') !== 'running'
      for (const [jobId, { aborting }] of running) if (hasEnded(jobId)) aborting.abort()
    },
    recordEnd: (jobId, how) => end(jobId, { ...how, result: null }),
    recordEnds,
    stop: async () => {
      isStopping = true
      for (const { aborting } of running.values()) aborting.abort()
      await atMost(timers, CANCEL_MS, Promise.all([...running.values()].map(({ ended }) => ended)))
    },
  }
}
