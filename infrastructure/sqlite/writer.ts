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
 * The one writer of a SQLite file, in a worker thread of its own, so that an fsync never stalls sockets. `onCommit`
 * runs after each batch, before its answers. A worker that dies fails what was pending; the next job starts another.
 */
export const openWriter = async <Job, Answer>(entry: URL, workerData: unknown, onCommit?: () => void): Promise<Writer<Job, Answer>> => {
  const pending = new Map<number, Pending<Answer>>()
  let nextId = 1
  let closed = false
  let running: Promise<Worker> | undefined

  const failAll = (reason: string): void => {
    const failed = [...pending.values()]
    pending.clear()
    for (const { resolve } of failed) resolve(E.left(reason))
  }

  const receive = (message: WorkerMessage<Answer>): void => {
    if (message.kind === 'ready') return
    onCommit?.()
    for (const reply of message.replies) {
      const waiting = pending.get(reply.id)
      pending.delete(reply.id)
      if (reply.kind === 'answer') waiting?.resolve(E.right(reply.answer))
      else if (reply.kind === 'unavailable') waiting?.resolve(E.left(reply.reason))
      else waiting?.reject(reply.error)
    }
  }

  const start = (): Promise<Worker> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(entry, { workerData })
      let reason = 'the writer stopped'
      worker.on('message', receive)
      worker.once('message', () => resolve(worker))
      worker.once('error', (error: Error) => {
        reason = error.message
      })
      worker.once('exit', () => {
        reject(new Error(reason))
        running = undefined
        failAll(reason)
      })
    })

  const submit = async (job: Job): Promise<E.Either<string, Answer>> => {
    if (closed) return E.left('the store is closed')
    running ??= start()
    let worker: Worker
    try {
      worker = await running
    } catch (error) {
      return E.left(error instanceof Error ? error.message : String(error))
    }
    const id = nextId++
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject })
      worker.postMessage({ kind: 'job', id, job } satisfies Request<Job>)
    })
  }

  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    const worker = await running?.catch(() => undefined)
    if (worker === undefined) return
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage({ kind: 'close' } satisfies Request<Job>)
    await exited
  }

  running = start()
  await running
  return { submit, close }
}
