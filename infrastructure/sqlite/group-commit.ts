import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { isBusy, isSqliteError } from './database.ts'

const MAX_BATCH = 1000

/** Tuples, not objects: names of members cost as much to hand to another thread as what they hold. */
type Queued<Job> = readonly [id: number, job: Job]

/** `more`: other jobs of the same turn follow at once, to be committed with these. */
export type Request<Job> =
  | { readonly kind: 'jobs'; readonly jobs: ReadonlyArray<Queued<Job>>; readonly more: boolean }
  | { readonly kind: 'close' }

type Reply<Answer> =
  | readonly [id: number, kind: 'answer', answer: Answer]
  | readonly [id: number, kind: 'unavailable', reason: string]
  | readonly [id: number, kind: 'defect', error: unknown]

/** What the worker says to its owner: that the file is open, or the replies to one batch. */
export type WorkerMessage<Answer> = 'ready' | ReadonlyArray<Reply<Answer>>

interface Handler<Job, Answer> {
  readonly database: DatabaseSync
  /** Runs inside a transaction. It may run twice for one job: what it wrote the first time was rolled back. */
  readonly apply: (job: Job) => Answer
  /** After the commit and before any answer; a reason why the outcome must count as unknown, if there is one. */
  readonly committed?: (jobs: ReadonlyArray<Job>) => string | undefined
  /** Nothing that `apply` wrote since the last commit is there. */
  readonly rolledBack?: () => void
  readonly closing?: () => void
}

const failed = (id: number, error: unknown): Reply<never> =>
  isSqliteError(error) ? [id, 'unavailable', error.message] : [id, 'defect', error]

/** Jobs that share a transaction. */
interface Batch<Job, Answer> {
  readonly jobs: Queued<Job>[]
  readonly replies: Reply<Answer>[]
  /** Why nothing of it is in the file. */
  failure?: { readonly error: unknown }
}

/**
 * The worker's side of a writer: everything that has arrived goes into one transaction, answered after its commit.
 * When that fails each job runs again in a transaction of its own, so that a bad one fails alone.
 */
export const serveGroupCommit = <Job, Answer>({ database, apply, committed, rolledBack, closing }: Handler<Job, Answer>): void => {
  const port = parentPort
  if (port === null) throw new Error('a writer runs in a worker thread')

  const emptyBatch = (): Batch<Job, Answer> => ({ jobs: [], replies: [] })
  const orRollBack = (batch: Batch<Job, Answer>, step: () => void): void => {
    if (batch.failure !== undefined) return
    try {
      step()
    } catch (error) {
      batch.failure = { error }
      if (database.isTransaction) database.exec('ROLLBACK')
      rolledBack?.()
    }
  }
  const add = (batch: Batch<Job, Answer>, jobs: ReadonlyArray<Queued<Job>>): void => {
    batch.jobs.push(...jobs)
    orRollBack(batch, () => {
      if (!database.isTransaction) database.exec('BEGIN IMMEDIATE')
      for (const [id, job] of jobs) batch.replies.push([id, 'answer', apply(job)])
    })
  }
  const commit = (batch: Batch<Job, Answer>): ReadonlyArray<Reply<Answer>> => {
    orRollBack(batch, () => database.exec('COMMIT'))
    const { jobs, replies, failure } = batch
    if (failure === undefined) {
      const reason = committed?.(jobs.map(([, job]) => job))
      return reason === undefined ? replies : jobs.map(([id]) => [id, 'unavailable', reason])
    }
    // Another connection that held the lock for the whole timeout would hold up each job as long.
    if (jobs.length === 1 || isBusy(failure.error)) return jobs.map(([id]) => failed(id, failure.error))
    return jobs.flatMap((one) => {
      const alone = emptyBatch()
      add(alone, [one])
      return commit(alone)
    })
  }

  let open = emptyBatch()
  port.on('message', (first: Request<Job>) => {
    let request: Request<Job> | undefined = first
    let more = false
    while (request?.kind === 'jobs') {
      add(open, request.jobs)
      more = request.more
      request = open.jobs.length < MAX_BATCH ? (receiveMessageOnPort(port)?.message as Request<Job> | undefined) : undefined
    }
    if (open.jobs.length > 0 && (!more || open.jobs.length >= MAX_BATCH)) {
      const replies = commit(open)
      open = emptyBatch()
      port.postMessage(replies satisfies WorkerMessage<Answer>)
    }
    if (request?.kind === 'close') {
      closing?.()
      database.close()
      port.close()
    }
  })
  port.postMessage('ready' satisfies WorkerMessage<Answer>)
}
