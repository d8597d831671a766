import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { KindRunning } from '../../domain/jobs/decider.ts'
import { JobEnded, JobStarted, JOBS_STREAM } from '../../domain/jobs/events.ts'
import { eventReader } from '../../domain/read-event.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import type { Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { readUndamaged } from '../log/read-undamaged.ts'
import { sendToJobs } from '../log/send-to.ts'
import type { Revision, StoredEvent, StoreUnavailable } from '../ports/event-store.ts'
import { createTurns } from '../turns.ts'
import { type Job, NOTHING_DONE } from './job.ts'

/** A job with the incarnation of its process: an id that is new after each start of the process. */
export interface LoggedJob extends Job {
  /** Null for jobs of early versions. */
  readonly incarnation: string | null
}

export type Start = EventOf<typeof JobStarted>['data']
export type Ending = EventOf<typeof JobEnded>['data']

export interface JobLog {
  /** Reads new events. */
  readonly refresh: () => Promise<Either<StoreUnavailable, void>>
  /** Returns a job as of the last refresh. */
  readonly get: (jobId: number) => LoggedJob | undefined
  /** Returns all jobs as of the last refresh, oldest first. */
  readonly all: () => ReadonlyArray<LoggedJob>
  readonly begin: (start: Start, origin: Origin) => Promise<Either<KindRunning | Unavailable, void>>
  /** Writes nothing for a job that has ended. */
  readonly end: (ending: Ending) => Promise<Either<Unavailable, void>>
}

/** Number of jobs that are kept, in memory and in the log. */
const MAX_JOBS = 200
const MAX_EVENTS = 2 * MAX_JOBS

const readStart = eventReader([JobStarted])
const readEnding = eventReader([JobEnded])

export const startedJob = (
  { jobId: id, kind, subject, process, incarnation, at }: Start,
  actor: string,
): LoggedJob => ({
  id,
  kind,
  subject,
  process,
  incarnation,
  actor,
  status: 'running',
  progress: NOTHING_DONE,
  result: null,
  createdAt: at,
  updatedAt: at,
})

export const endedJob = <A extends Job>(job: A, { status, done, total, detail, result, at }: Ending): A =>
  ({ ...job, status, progress: { done, total, detail }, result, updatedAt: at })

export const createJobLog = (deps: WriteDeps): JobLog => {
  const { store } = deps
  const jobs = new Map<number, LoggedJob>()
  const inTurn = createTurns()
  let next: Revision = 0

  const take = (event: StoredEvent): void => {
    const start = readStart(event)?.data
    if (start !== undefined) jobs.set(start.jobId, startedJob(start, event.metadata.actor))
    const ending = readEnding(event)?.data
    const job = ending && jobs.get(ending.jobId)
    if (job !== undefined && ending !== undefined) jobs.set(job.id, endedJob(job, ending))
    const oldest = jobs.size > MAX_JOBS && [...jobs.values()].find(({ status }) => status !== 'running')
    if (oldest) jobs.delete(oldest.id)
  }

  const send = sendToJobs(deps)

  return {
    refresh: async () => {
      const read = await readUndamaged(store, JOBS_STREAM, next)
      if (E.isLeft(read)) return read
      for (const event of read.right.events) {
        // A concurrent refresh has already processed this event.
        if (event.revision < next) continue
        take(event)
        next = event.revision + 1
      }
      return E.right(undefined)
    },
    get: (jobId) => jobs.get(jobId),
    all: () => [...jobs.values()],
    begin: async (data, origin) =>
      E.map(() => undefined)(await inTurn(JOBS_STREAM, () => send(null, { type: 'Start', data }, origin))),
    end: async (data) => {
      const sent = await inTurn(JOBS_STREAM, () => send(null, { type: 'End', data }))
      if (E.isLeft(sent)) return sent
      await store.setMetadata(JOBS_STREAM, { maxCount: MAX_EVENTS })
      return E.right(undefined)
    },
  }
}
