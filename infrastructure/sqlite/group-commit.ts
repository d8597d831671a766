import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { isBusy, isSqliteError, transaction } from './database.ts'

const MAX_BATCH = 1000

export type Request<Job> = { readonly kind: 'jobs'; readonly jobs: ReadonlyArray<Job> } | { readonly kind: 'close' }

type Failure = { readonly kind: 'unavailable'; readonly reason: string } | { readonly kind: 'defect'; readonly error: unknown }

/** A tuple, not an object: names of members cost as much to hand to another thread as what they hold. */
type Reply<Answer> = readonly [answer: Answer] | readonly [answer: null, failure: Failure]

/** What the worker says to its owner: that the file is open, or the replies to the jobs that it was given first. */
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

const failed = (error: unknown): Reply<never> => [
  null,
  isSqliteError(error) ? { kind: 'unavailable', reason: error.message } : { kind: 'defect', error },
]

/**
 * The worker's side of a writer: everything that has arrived goes into one transaction, answered after its commit;
 * what comes meanwhile is the next, so that its owner makes new jobs while this one commits.
 * When that fails each job runs again in a transaction of its own, so that a bad one fails alone.
 */
export const serveGroupCommit = <Job, Answer>({ database, apply, committed, rolledBack, closing }: Handler<Job, Answer>): void => {
  const port = parentPort
  if (port === null) throw new Error('a writer runs in a worker thread')

  const commit = (jobs: ReadonlyArray<Job>): ReadonlyArray<Reply<Answer>> => {
    let replies: ReadonlyArray<Reply<Answer>>
    try {
      replies = transaction(database, () => jobs.map((job) => [apply(job)]))
    } catch (error) {
      rolledBack?.()
      // Another connection that held the lock for the whole timeout would hold up each job as long.
      return jobs.length === 1 || isBusy(error) ? jobs.map(() => failed(error)) : jobs.flatMap((one) => commit([one]))
    }
    const reason = committed?.(jobs)
    return reason === undefined ? replies : jobs.map(() => [null, { kind: 'unavailable', reason }])
  }

  port.on('message', (first: Request<Job>) => {
    const jobs: Job[] = []
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
