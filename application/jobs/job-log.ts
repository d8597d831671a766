import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { jobsDecider } from '../../domain/jobs/decider.ts'
import type { JobCommand, KindRunning } from '../../domain/jobs/decider.ts'
import { JobEnded, JobStarted, JOBS_STREAM } from '../../domain/jobs/events.ts'
import { eventReader } from '../../domain/read-event.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { ownOrigin } from '../log/origin.ts'
import type { Origin } from '../log/origin.ts'
import { readUndamaged } from '../log/read-undamaged.ts'
import { unexpected } from '../log/unexpected.ts'
import type { Revision, StoredEvent, StoreUnavailable } from '../ports/event-store.ts'
import { createTurns } from '../turns.ts'
import { NOTHING_DONE } from './job.ts'
import type { Job } from './job.ts'

/** A job, and which run of its process does it. */
export interface LoggedJob extends Job {
  /** Null where an older version did not write it down. */
  readonly incarnation: string | null
}

export type Beginning = EventOf<typeof JobStarted>['data']
export type Ending = EventOf<typeof JobEnded>['data']

/** Jobs as the log tells them, whichever processes do them. */
export interface JobLog {
  /** Reads what was appended since. */
  readonly refresh: () => Promise<Either<StoreUnavailable, void>>
  /** As of the last refresh. */
  readonly get: (jobId: number) => LoggedJob | undefined
  /** The oldest first. */
  readonly all: () => ReadonlyArray<LoggedJob>
  readonly begin: (beginning: Beginning, origin: Origin) => Promise<Either<KindRunning | Unavailable, void>>
  /** Writes nothing for a job that has ended, whoever ended it. */
  readonly end: (ending: Ending) => Promise<Either<Unavailable, void>>
}

/** So many jobs are remembered, here and in the log. */
const MOST = 200
const MOST_EVENTS = 2 * MOST

const started = eventReader([JobStarted])
const ended = eventReader([JobEnded])

/** A job as it was begun. */
export const begunJob = ({ jobId: id, kind, subject, process, incarnation, at }: Beginning, actor: string): LoggedJob => ({
  id, kind, subject, process, incarnation, actor, status: 'running', progress: NOTHING_DONE, result: null, createdAt: at, updatedAt: at,
})

/** The job with its end. */
export const endedJob = <A extends Job>(job: A, { status, done, total, detail, result, at }: Ending): A =>
  ({ ...job, status, progress: { done, total, detail }, result, updatedAt: at })

export const createJobLog = (deps: WriteDeps): JobLog => {
  const { store } = deps
  const jobs = new Map<number, LoggedJob>()
  const inTurn = createTurns()
  let next: Revision = 0

  const take = (event: StoredEvent): void => {
    const begun = started(event)?.data
    if (begun !== undefined) jobs.set(begun.jobId, begunJob(begun, event.metadata.actor))
    const over = ended(event)?.data
    const job = over && jobs.get(over.jobId)
    if (job !== undefined && over !== undefined) jobs.set(job.id, endedJob(job, over))
    const oldest = jobs.size > MOST && [...jobs.values()].find(({ status }) => status !== 'running')
    if (oldest) jobs.delete(oldest.id)
  }

  const send = (command: JobCommand, origin: Origin) =>
    inTurn(JOBS_STREAM, handleCommand(deps)({ ...origin, stream: JOBS_STREAM, decider: jobsDecider, command }))

  return {
    refresh: async () => {
      const read = await readUndamaged(store, JOBS_STREAM, next)()
      if (E.isLeft(read)) return read
      for (const event of read.right.events) {
        // Read by two at once.
        if (event.revision < next) continue
        take(event)
        next = event.revision + 1
      }
      return E.right(undefined)
    },
    get: (jobId) => jobs.get(jobId),
    all: () => [...jobs.values()],
    begin: async (data, origin) => E.map(() => undefined)(await send({ type: 'Start', data }, origin)),
    end: async (data) => {
      const sent = await send({ type: 'End', data }, ownOrigin(deps))
      if (E.isRight(sent)) {
        await store.setMetadata(JOBS_STREAM, { maxCount: MOST_EVENTS })()
        return E.right(undefined)
      }
      const { left } = sent
      if (left._tag === 'KindRunning') throw unexpected(JOBS_STREAM, left)
      return E.left(left)
    },
  }
}
