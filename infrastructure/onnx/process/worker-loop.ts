import { parentPort } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { Cancel, Outcome, PlacedOutcome, Task, Unload } from './messages.ts'

/** For tasks that are never cancelled. */
const NEVER = new AbortController().signal

/** Performs a task. `signal` is aborted when its outcome is not needed any more. */
type Perform = (task: Task, signal: AbortSignal) => Promise<Outcome>

/** Performs several tasks of one model at once and reports outcomes. A task without an outcome then runs separately. */
export type Together = (
  tasks: ReadonlyArray<Task>,
  onOutcome: (index: number, outcome: Outcome) => void,
  signals: ReadonlyArray<AbortSignal>,
) => Promise<void>

interface OptionalTasks {
  readonly together: Together
  readonly unload: (model: string) => Promise<void>
}

/**
 * Runs the message loop of a worker thread. A single task gets its outcome; several tasks get their outcomes in any
 * order, each with the index of its task. If joined tasks throw, each task without an outcome runs separately.
 */
export const serveTasks = (
  perform: Perform,
  { together = async () => undefined, unload = async () => undefined }: Partial<OptionalTasks> = {},
): void => {
  /** The controllers that cancel the tasks in progress, by the index of the task. */
  let cancellations: ReadonlyArray<AbortController> = []

  const outcomeOf = async (task: Task | Unload, signal: AbortSignal): Promise<Outcome> => {
    try {
      if (task.kind !== 'unload') return await perform(task, signal)
      await unload(task.model)
      return E.right(null)
    } catch (error) {
      return E.left({ _tag: 'JobFailed', reason: messageOf(error) })
    }
  }

  const answerAll = async (tasks: ReadonlyArray<Task>, signals: ReadonlyArray<AbortSignal>): Promise<void> => {
    const done = new Set<number>()
    const send = (index: number, outcome: Outcome): void => {
      done.add(index)
      parentPort?.postMessage([index, outcome] satisfies PlacedOutcome)
    }
    await together(tasks, send, signals).catch((error: unknown) => {
      const reason = messageOf(error).replaceAll('\n', ' ')
      process.stderr.write(`${tasks.length} jobs do not run together: ${reason}\n`)
    })
    for (const [index, task] of tasks.entries()) {
      if (!done.has(index)) send(index, await outcomeOf(task, signals[index] ?? NEVER))
    }
  }

  const answer = async (task: Task | Unload, signal: AbortSignal): Promise<void> =>
    parentPort?.postMessage(await outcomeOf(task, signal))

  parentPort?.on('message', (message: Task | Unload | Cancel | ReadonlyArray<Task>) => {
    if ('kind' in message && message.kind === 'cancel') return cancellations[message.place]?.abort()
    const tasks = 'kind' in message ? [message] : message
    cancellations = tasks.map(() => new AbortController())
    const signals = cancellations.map(({ signal }) => signal)
    const [signal = NEVER] = signals
    void ('kind' in message ? answer(message, signal) : answerAll(message, signals))
  })
}
