import type { DatabaseSync } from 'node:sqlite'
import { parentPort, receiveMessageOnPort } from 'node:worker_threads'
import { isBusy, isSqliteError, transaction } from './database.ts'

const MAX_BATCH = 1000

export type Request<Job> =
  | { readonly kind: 'jobs'; readonly jobs: ReadonlyArray<Job> }
  | { readonly kind: 'close' }

type Failure =
  | { readonly kind: 'unavailable'; readonly reason: string }
  | { readonly kind: 'defect'; readonly error: unknown }

/** A tuple, because the names of object members cost as much to pass to another thread as the values. */
type Reply<Answer> = readonly [answer: Answer] | readonly [answer: null, failure: Failure]

/** A message of the worker: `ready` when the file is open, later the replies to the oldest jobs. */
export type ThreadMessage<Answer> = 'ready' | ReadonlyArray<Reply<Answer>>

interface Handler<Job, Answer> {
  readonly database: DatabaseSync
  /** Runs inside a transaction. After a rollback it runs a second time for the same job. */
  readonly apply: (job: Job) => Answer
  /** Called after the commit, before the answers. Must not throw. */
  readonly committed?: (jobs: ReadonlyArray<Job>) => void
  /** Called after a rollback of everything that `apply` wrote after the last commit. */
  readonly rolledBack?: () => void
  /** Called before the file is closed. */
  readonly closing?: () => void
}

const failed = (error: unknown): Reply<never> => [
  null,
  isSqliteError(error) ? { kind: 'unavailable', reason: error.message } : { kind: 'defect', error },
]

/**
 * Runs the worker side of a writer. All waiting jobs form one transaction and are answered after its commit. Jobs that
 * arrive meanwhile form the next transaction. If a transaction fails, each of its jobs runs again in its own
 * transaction, so only the faulty job fails.
 */
export const serveGroupCommit = <Job, Answer>(
  { database, apply, committed, rolledBack, closing }: Handler<Job, Answer>,
): void => {
  const port = parentPort
  if (port === null) throw new Error('a writer runs in a worker thread')

  const commit = (jobs: ReadonlyArray<Job>): ReadonlyArray<Reply<Answer>> => {
    let replies: ReadonlyArray<Reply<Answer>>
    try {
      replies = transaction(database, () => jobs.map((job) => [apply(job)]))
    } catch (error) {
      rolledBack?.()
      // If another connection holds the lock, each job would wait for the whole timeout again.
      const failsAll = jobs.length === 1 || isBusy(error)
      return failsAll ? jobs.map(() => failed(error)) : jobs.flatMap((job) => commit([job]))
    }
    committed?.(jobs)
    return replies
  }

  port.on('message', (first: Request<Job>) => {
    const jobs: Job[] = []
    let request: Request<Job> | undefined = first
    while (request?.kind === 'jobs') {
      jobs.push(...request.jobs)
      const isFull = jobs.length >= MAX_BATCH
      request = isFull ? undefined : (receiveMessageOnPort(port)?.message as Request<Job> | undefined)
    }
    if (jobs.length > 0) port.postMessage(commit(jobs) satisfies ThreadMessage<Answer>)
    if (request?.kind === 'close') {
      closing?.()
      database.close()
      port.close()
    }
  })
  port.postMessage('ready' satisfies ThreadMessage<Answer>)
}
