import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Member, Members, PublishedJob } from '../ports/members.ts'
import type { Timers } from '../ports/timers.ts'
import { pause } from '../waiting.ts'
import type { JobLog, LoggedJob } from './job-log.ts'
import { CANCEL_MS, type RunningJobs } from './running-jobs.ts'

/** Handles the jobs that other processes run. */
export interface SharedJobs {
  /** Returns the progress that the process of the job has published. */
  readonly publishedProgressOf: (job: LoggedJob) => PublishedJob | undefined
  /** Requests the end of a job in another process. Resolves when the job has ended, or after CANCEL_MS. */
  readonly cancel: (jobId: number) => Promise<void>
  readonly stop: () => Promise<void>
}

interface SharedJobsDeps {
  readonly log: JobLog
  readonly running: RunningJobs
  readonly members: Pick<Members, 'all' | 'onChange' | 'onLost' | 'announce' | 'ownershipProblem'>
  readonly environment: Pick<Environment, 'now'>
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn' | 'error'>
}

const PUBLISH_INTERVAL_MS = 1000
const CHECK_INTERVAL_MS = 5000
/** Successive checks that must miss the process of a job before the job is ended. */
const CHECKS_BEFORE_END = 4
/** Interval for checking whether a cancelled job has ended. */
const CANCEL_POLL_MS = 250

const lostText = (process: string | null): string =>
  process === null ? 'interrupted: its process was lost' : `interrupted: process ${process} was lost`

/**
 * True when this member may run the job. Early versions stored no process. Their job may run in any member that
 * publishes no jobs.
 */
const mayRun = ({ incarnation }: LoggedJob, member: Member): boolean =>
  incarnation === null ? member.roles.includes('api') && member.jobs === null : member.incarnation === incarnation

/**
 * Publishes the progress of this process's jobs for other processes. Aborts jobs of this process that were cancelled in
 * another process. Ends the jobs of lost processes in the log. Several processes may do this at the same time, because
 * only the first end counts.
 */
export const shareJobs = ({ log, running, members, environment, timers, logger }: SharedJobsDeps): SharedJobs => {
  const stopping = new AbortController()
  const { signal } = stopping
  const cancelling = new Set<number>()
  /** Number of successive checks that missed the process of a job, by job id. */
  let missed: ReadonlyMap<number, number> = new Map()
  let published = ''

  const isOpen = (jobId: number): boolean => log.get(jobId)?.status === 'running'
  const openJobs = (): ReadonlyArray<LoggedJob> => log.all().filter(({ status }) => status === 'running')
  const isUnseen = (job: LoggedJob): boolean => !members.all().some((member) => mayRun(job, member))

  const publish = (): void => {
    for (const jobId of cancelling) if (!isOpen(jobId)) cancelling.delete(jobId)
    const jobs = { doing: running.progress(), cancelling: [...cancelling] }
    const next = JSON.stringify(jobs)
    if (next !== published) members.announce({ jobs })
    published = next
  }

  const abortCancelled = (): void => {
    for (const { jobs } of members.all()) jobs?.cancelling.forEach(running.cancel)
  }

  const endLost = async ({ id: jobId, process }: LoggedJob): Promise<void> => {
    const at = environment.now()
    logger.warn({ jobId, process }, 'job failed, because its process was lost')
    await log.end({ jobId, status: 'failed', done: 0, total: null, detail: lostText(process), result: null, at })
  }

  /** A check counts only while this process is connected, because a disconnected process sees no other processes. */
  const check = async (): Promise<void> => {
    if (E.isLeft(await log.refresh())) return
    running.cancelEnded()
    await running.recordEnds()
    const isSure = openJobs().some(isUnseen) && (await members.ownershipProblem()) === null
    const unseen = isSure ? openJobs().filter(isUnseen) : []
    missed = new Map(unseen.map(({ id }) => [id, (missed.get(id) ?? 0) + 1]))
    for (const job of unseen) if ((missed.get(job.id) ?? 0) >= CHECKS_BEFORE_END) await endLost(job)
  }

  const endJobsOf = async ({ incarnation }: Member): Promise<void> => {
    // If this refresh fails, the regular checks end the jobs later.
    await log.refresh()
    for (const job of openJobs()) if (job.incarnation === incarnation && isUnseen(job)) await endLost(job)
  }

  const guarded = async (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => logger.error({ err: error }, 'check of the jobs of other processes failed'))

  const repeat = async (ms: number, task: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      await guarded(task())
      await pause(timers, ms, signal)
    }
  }

  const unsubscribes = [
    members.onChange(abortCancelled),
    members.onLost((member) => void guarded(endJobsOf(member))),
  ]
  const working = [repeat(PUBLISH_INTERVAL_MS, async () => publish()), repeat(CHECK_INTERVAL_MS, check)]

  return {
    publishedProgressOf: ({ id, incarnation }) => {
      const publisher = members.all().find((member) => member.incarnation === incarnation)
      return publisher?.jobs?.doing.find(({ jobId }) => jobId === id)
    },
    cancel: async (jobId) => {
      cancelling.add(jobId)
      publish()
      for (let waited = 0; waited < CANCEL_MS && isOpen(jobId) && !signal.aborted; waited += CANCEL_POLL_MS) {
        await pause(timers, CANCEL_POLL_MS, signal)
        await log.refresh()
      }
    },
    stop: async () => {
      stopping.abort()
      for (const unsubscribe of unsubscribes) unsubscribe()
      await Promise.all(working)
    },
  }
}
