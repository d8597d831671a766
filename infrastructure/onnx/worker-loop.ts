import { parentPort } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { reasonOf } from './messages.ts'
import type { Outcome, Task } from './messages.ts'

/** The message loop of a worker thread: a task in, its outcome out; an exception is the failure of its task alone. */
export const serveTasks = (perform: (task: Task) => Promise<Outcome>): void => {
  const answer = async (task: Task): Promise<void> => {
    const outcome = await perform(task).catch((error: unknown): Outcome => E.left({ _tag: 'JobFailed', reason: reasonOf(error) }))
    parentPort?.postMessage(outcome)
  }
  parentPort?.on('message', (task: Task) => void answer(task))
}
