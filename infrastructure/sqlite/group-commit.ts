import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { isBusy, isSqliteError, transaction } from './database.ts'

const MAX_BATCH = 1000

/** Tuples, not objects: names of members cost as much to hand to another thread as what they hold. */
type Queued<Job> = readonly [id: number, job: Job]

export type Request<Job> = { readonly kind: 'jobs'; readonly jobs: ReadonlyArray<Queued<Job>> } | { readonly kind: 'close' }

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

/**
 * The worker's side of a writer: everything that has arrived goes into one transaction, answered after its commit;
 * what comes meanwhile is the next, so that its owner makes new jobs while this one commits.
 * When that fails each job runs again in a transaction of its own, so that a bad one fails alone.
 */
export const serveGroupCommit = <Job, Answer>({ database, apply, committed, rolledBack, closing }: Handler<Job, Answer>): void => {
  const port = parentPort
  if (port === null) throw new Error('a writer runs in a worker thread')

  const commit = (jobs: ReadonlyArray<Queued<Job>>): ReadonlyArray<Reply<Answer>> => {
    let replies: ReadonlyArray<Reply<Answer>>
    try {
      replies = transaction(database, () => jobs.map(([id, job]) => [id, 'answer', apply(job)]))
    } catch (error) {
      rolledBack?.()
      // Another connection that held the lock for the whole timeout would hold up each job as long.
      return jobs.length === 1 || isBusy(error) ? jobs.map(([id]) => failed(id, error)) : jobs.flatMap((one) => commit([one]))
    }
    const reason = committed?.(jobs.map(([, job]) => job))
    return reason === undefined ? replies : jobs.map(([id]) => [id, 'unavailable', reason])
  }

  port.on('message', (first: Request<Job>) => {
    const jobs: Queued<Job>[] = []
    let request: Request<Job> | undefined = first
    while (request?.kind === 'jobs') {
      jobs.push(...request.jobs)
      request = jobs.length < MAX_BATCH ? (receiveMessageOnPort(port)?.message as Request<Job> | undefined) : undefined
    }
    if (jobs.length > 0) port.postMessage(commit(jobs) satisfies WorkerMessage<Answer>)
    if (request?.kind === 'close') {
      closing?.()
      database.close()
      port.close()
    }
  })
  port.postMessage('ready' satisfies WorkerMessage<Answer>)
}
