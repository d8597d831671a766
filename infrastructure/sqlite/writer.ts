import { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Request, WorkerMessage } from './group-commit.ts'

/** Left: why the store did not take it, or may not have. */
export interface Writer<Job, Answer> {
  readonly submit: (job: Job) => Promise<E.Either<string, Answer>>
  /** Finishes what was submitted, then closes the file. */
  readonly close: () => Promise<void>
}

interface Pending<Answer> {
  readonly resolve: (answer: E.Either<string, Answer>) => void
  readonly reject: (defect: unknown) => void
}

/**
 * A message costs as much as a row, so the jobs of one turn of the event loop go together; but no more than this many
 * wait for it, so that the worker writes the first ones while the others are still being made.
 */
const JOBS_A_MESSAGE = 32

/**
 * The one writer of a SQLite file, in a worker thread of its own, so that an fsync never stalls sockets. `onCommit`
 * runs after each batch, before its answers. A worker that dies fails what was pending; the next job starts another.
 */
export const openWriter = async <Job, Answer>(entry: URL, workerData: unknown, onCommit?: () => void): Promise<Writer<Job, Answer>> => {
  /** In the order of their jobs, in which the worker answers. */
  let pending: Array<Pending<Answer>> = []
  let closed = false
  /** Jobs were submitted in this turn of the event loop. */
  let turning = false
  let running: Worker | undefined
  let outbox: Array<Job> = []

  const failAll = (reason: string): void => {
    const failed = pending
    pending = []
    outbox = []
    for (const { resolve } of failed) resolve(E.left(reason))
  }

  const receive = (message: WorkerMessage<Answer>): void => {
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

  /** Answers once the file is open. */
  const start = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(entry, { workerData })
      running = worker
      let reason = 'the writer stopped'
      worker.on('message', receive)
      worker.once('message', () => resolve())
      worker.once('error', (error: Error) => {
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
    turning = false
    flush()
  }

  const submit = (job: Job): Promise<E.Either<string, Answer>> => {
    if (closed) return Promise.resolve(E.left('the store is closed'))
    // Why it does not start its exit tells to all that wait.
    if (running === undefined) start().catch(() => undefined)
    return new Promise((resolve, reject) => {
      pending.push({ resolve, reject })
      outbox.push(job)
      if (!turning) process.nextTick(endTurn)
      turning = true
      if (outbox.length === JOBS_A_MESSAGE) flush()
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
