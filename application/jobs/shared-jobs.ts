import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Member, Members, PublishedJob } from '../ports/peers/members.ts'
import type { Timers } from '../ports/timers.ts'
import { pause } from '../waiting.ts'
import type { JobLog, LoggedJob } from './job-log.ts'
import { CANCEL_MS } from './running-jobs.ts'
import type { RunningJobs } from './running-jobs.ts'

/** What a process has to do with the jobs that others do. */
export interface SharedJobs {
  /** How far a job is that another process does; undefined where nobody tells. */
  readonly toldOf: (job: LoggedJob) => PublishedJob | undefined
  /** Has the process that does the job break it off; resolves once it has ended, or soon after it was to. */
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

/** Between two tellings of how far jobs are. */
const TELL_MS = 1000
/** Between two looks for jobs that no member does. */
const EVERY_MS = 5000
/** Looks in a row that miss whoever did a job before it is given up: longer than any that is there may be unseen. */
const LOOKS = 4
/** Between two looks whether a job that is being cancelled has ended. */
const CANCELLED_MS = 250

const goneText = (process: string | null): string =>
  process === null ? 'broken off: the process that did it is gone' : `broken off: the process ${process} that did it is gone`

/** Whether this member may be doing the job: of one that an older version began, any that does not say what it does. */
const mayDo = ({ incarnation }: LoggedJob, member: Member): boolean =>
  incarnation === null ? member.roles.includes('api') && member.jobs === null : member.incarnation === incarnation

/**
 * Tells the other processes how far the jobs of this one are, and hears what they tell; breaks off what somebody asked
 * any of them to cancel; and ends in the log the jobs of processes that are gone. Many may say so at once: the first counts.
 */
export const shareJobs = ({ log, running, members, environment, timers, logger }: SharedJobsDeps): SharedJobs => {
  const stopping = new AbortController()
  const { signal } = stopping
  const cancelling = new Set<number>()
  /** How many looks in a row have missed whoever did which job. */
  let missed: ReadonlyMap<number, number> = new Map()
  let said = ''

  const isOpen = (jobId: number): boolean => log.get(jobId)?.status === 'running'
  const openJobs = (): ReadonlyArray<LoggedJob> => log.all().filter(({ status }) => status === 'running')
  const isUnseen = (job: LoggedJob): boolean => !members.all().some((member) => mayDo(job, member))

  const tell = (): void => {
    for (const jobId of cancelling) if (!isOpen(jobId)) cancelling.delete(jobId)
    const jobs = { doing: running.told(), cancelling: [...cancelling] }
    const now = JSON.stringify(jobs)
    if (now !== said) members.announce({ jobs })
    said = now
  }

  const hearCancellations = (): void => {
    for (const { jobs } of members.all()) jobs?.cancelling.forEach(running.abort)
  }

  const giveUp = async ({ id: jobId, process }: LoggedJob): Promise<void> => {
    const at = environment.now()
    logger.warn({ jobId, process }, 'the process that did a job is gone: the job has failed')
    await log.end({ jobId, status: 'failed', done: 0, total: null, detail: goneText(process), result: null, at })
  }

  /** A look counts only while our own beats are acknowledged: else it is us who see nobody. */
  const look = async (): Promise<void> => {
    if (E.isLeft(await log.refresh())) return
    running.abortEnded()
    await running.recordEnds()
    const isSure = openJobs().some(isUnseen) && (await members.ownershipProblem()) === null
    const unseen = isSure ? openJobs().filter(isUnseen) : []
    missed = new Map(unseen.map(({ id }) => [id, (missed.get(id) ?? 0) + 1]))
    for (const job of unseen) if ((missed.get(job.id) ?? 0) >= LOOKS) await giveUp(job)
  }

  const giveUpThoseOf = async ({ incarnation }: Member): Promise<void> => {
    // Unanswered, the looks find that nobody does them.
    await log.refresh()
    for (const job of openJobs()) if (job.incarnation === incarnation && isUnseen(job)) await giveUp(job)
  }

  const guarded = async (work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => logger.error({ err: error }, 'the jobs of other processes could not be seen to'))

  const again = async (ms: number, task: () => Promise<void>): Promise<void> => {
    while (!signal.aborted) {
      await guarded(task())
      await pause(timers, ms, signal)
    }
  }

  const silence = [
    members.onChange(hearCancellations),
    members.onLost((member) => void guarded(giveUpThoseOf(member))),
  ]
  const working = [again(TELL_MS, async () => tell()), again(EVERY_MS, look)]

  return {
    toldOf: ({ id, incarnation }) => {
      const doing = members.all().find((member) => member.incarnation === incarnation)
      return doing?.jobs?.doing.find(({ jobId }) => jobId === id)
    },
    cancel: async (jobId) => {
      cancelling.add(jobId)
      tell()
      for (let waited = 0; waited < CANCEL_MS && isOpen(jobId) && !signal.aborted; waited += CANCELLED_MS) {
        await pause(timers, CANCELLED_MS, signal)
        await log.refresh()
      }
    },
    stop: async () => {
      stopping.abort()
      for (const deafen of silence) deafen()
      await Promise.all(working)
    },
  }
}
