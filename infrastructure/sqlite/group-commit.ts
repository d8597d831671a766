import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { isBusy, isSqliteError, transaction } from './database.ts'

const MAX_BATCH = 1000

interface Queued<Job> {
  readonly id: number
  readonly job: Job
}

export type Request<Job> = { readonly kind: 'jobs'; readonly jobs: ReadonlyArray<Queued<Job>> } | { readonly kind: 'close' }

export type Reply<Answer> =
  | { readonly id: number; readonly kind: 'answer'; readonly answer: Answer }
  | { readonly id: number; readonly kind: 'unavailable'; readonly reason: string }
  | { readonly id: number; readonly kind: 'defect'; readonly error: unknown }

/** What the worker says to its owner: that the file is open, or the replies to one batch. */
export type WorkerMessage<Answer> = { readonly kind: 'ready' } | { readonly kind: 'replies'; readonly replies: ReadonlyArray<Reply<Answer>> }

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

const failure = (id: number, error: unknown): Reply<never> =>
  isSqliteError(error) ? { id, kind: 'unavailable', reason: error.message } : { id, kind: 'defect', error }

/**
 * The worker's side of a writer: everything that has arrived goes into one transaction, answered after its commit.
 * When that fails each job runs again in a transaction of its own, so that a bad one fails alone.
 */
export const serveGroupCommit = <Job, Answer>({ database, apply, committed, rolledBack, closing }: Handler<Job, Answer>): void => {
  const port = parentPort
  if (port === null) throw new Error('a writer runs in a worker thread')

  const commit = (batch: ReadonlyArray<Queued<Job>>): ReadonlyArray<Reply<Answer>> => {
    const replies = transaction(database, () => batch.map(({ id, job }) => ({ id, kind: 'answer' as const, answer: apply(job) })))
    const reason = committed?.(batch.map(({ job }) => job))
    return reason === undefined ? replies : batch.map(({ id }) => ({ id, kind: 'unavailable', reason }))
  }
  const attempt = (batch: ReadonlyArray<Queued<Job>>): ReadonlyArray<Reply<Answer>> => {
    try {
      return commit(batch)
    } catch (error) {
      rolledBack?.()
      // Another connection that held the lock for the whole timeout would hold up each job as long.
      if (batch.length === 1 || isBusy(error)) return batch.map(({ id }) => failure(id, error))
      return batch.flatMap((one) => attempt([one]))
    }
  }

  port.on('message', (first: Request<Job>) => {
    const batch: Queued<Job>[] = []
    let request: Request<Job> | undefined = first
    while (request?.kind === 'jobs') {
      batch.push(...request.jobs)
      request = batch.length < MAX_BATCH ? (receiveMessageOnPort(port)?.message as Request<Job> | undefined) : undefined
    }
    if (batch.length > 0) port.postMessage({ kind: 'replies', replies: attempt(batch) } satisfies WorkerMessage<Answer>)
    if (request?.kind === 'close') {
      closing?.()
      database.close()
      port.close()
    }
  })
  port.postMessage({ kind: 'ready' } satisfies WorkerMessage<Answer>)
}
