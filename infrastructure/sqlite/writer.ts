import { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Request, ThreadMessage } from './group-commit.ts'

/** Submits jobs to a worker. Left: why a job failed or why its outcome is unknown. */
export interface Writer<Job, Answer> {
  readonly submit: (job: Job) => Promise<E.Either<string, Answer>>
  /** Finishes the submitted jobs, then closes the file. */
  readonly close: () => Promise<void>
}

interface Pending<Answer> {
  readonly resolve: (answer: E.Either<string, Answer>) => void
  readonly reject: (defect: unknown) => void
}

/**
 * Sending a message to the worker takes as long as writing a row. So the jobs of one turn of the event loop share a
 * message, up to this number. Then the worker already writes these jobs while further jobs are created.
 */
const MAX_JOBS_PER_MESSAGE = 32

/**
 * Opens the only writer of a SQLite file. It runs in a worker thread, so fsync never blocks sockets. `onCommit` runs
 * after each batch, before its answers. When the worker dies, the pending jobs fail; the next job starts a new worker.
 */
export const openWriter = async <Job, Answer>(
  entry: URL,
  workerData: unknown,
  onCommit?: () => void,
): Promise<Writer<Job, Answer>> => {
  /** Pending jobs in submission order, which is also the order of the answers. */
  let pending: Array<Pending<Answer>> = []
  let closed = false
  /** Whether this turn of the event loop already has a scheduled flush. */
  let hasScheduledFlush = false
  let running: Worker | undefined
  let outbox: Array<Job> = []

  const failAll = (reason: string): void => {
    const failed = pending
    pending = []
    outbox = []
    for (const { resolve } of failed) resolve(E.left(reason))
  }

  const receive = (message: ThreadMessage<Answer>): void => {
    if (message === 'ready') return
    onCommit?.()
    const waiting = pending.splice(0, message.length)
    message.forEach((reply, index) => {
      const { resolve, reject } = waiting[index] as Pending<Answer>
      if (reply.length === 1) return resolve(E.right(reply[0]))
      const [, failure] = reply
      if (failure.kind === 'unavailable') resolve(E.left(failure.reason))
      else reject(failure.error)
    })
  }

  /** Resolves when the file is open. */
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(entry, { workerData })
      running = worker
      let reason = 'the writer stopped'
      worker.on('message', receive)
      worker.once('message', () => resolve())
      worker.on('error', (error: Error) => {
        reason = error.message
      })
      worker.once('exit', () => {
        reject(new Error(reason))
        running = undefined
        failAll(reason)
      })
    })

  const flush = (): void => {
    const jobs = outbox
    outbox = []
    if (jobs.length > 0) running?.postMessage({ kind: 'jobs', jobs } satisfies Request<Job>)
  }
  const endTurn = (): void => {
    hasScheduledFlush = false
    flush()
  }

  const submit = (job: Job): Promise<E.Either<string, Answer>> => {
    if (closed) return Promise.resolve(E.left('the store is closed'))
    // If the start fails, the exit handler fails the pending jobs with the reason.
    if (running === undefined) start().catch(() => undefined)
    return new Promise((resolve, reject) => {
      pending.push({ resolve, reject })
      outbox.push(job)
      if (!hasScheduledFlush) process.nextTick(endTurn)
      hasScheduledFlush = true
      if (outbox.length === MAX_JOBS_PER_MESSAGE) flush()
    })
  }

  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    const worker = running
    if (worker === undefined) return
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    flush()
    worker.postMessage({ kind: 'close' } satisfies Request<Job>)
    await exited
  }

  await start()
  return { submit, close }
}
