import { parentPort } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { Outcome, PlacedOutcome, Task, Unload } from './messages.ts'

/** Performs several tasks for one model at once, and says of each when it is done; it may leave some to be performed alone. */
export type Together = (tasks: ReadonlyArray<Task>, onOutcome: (index: number, outcome: Outcome) => void) => Promise<void>

interface Abilities {
  readonly together: Together
  readonly unload: (model: string) => Promise<void>
}

/**
 * The message loop of a worker thread: a task in, its outcome out; or several in, and their outcomes out as they come, each with the
 * place of its task. An exception is the failure of its task alone: of several that broke each is tried by itself.
 */
export const serveTasks = (
  perform: (task: Task) => Promise<Outcome>,
  { together = async () => undefined, unload = async () => undefined }: Partial<Abilities> = {},
): void => {
  const outcomeOf = (task: Task | Unload): Promise<Outcome> =>
    (task.kind === 'unload' ? unload(task.model).then(() => E.right(null)) : perform(task)).catch((error: unknown): Outcome => E.left({ _tag: 'JobFailed', reason: messageOf(error) }))

  const answerAll = async (tasks: ReadonlyArray<Task>): Promise<void> => {
    const done = new Set<number>()
    const tell = (index: number, outcome: Outcome): void => {
      done.add(index)
      parentPort?.postMessage([index, outcome] satisfies PlacedOutcome)
    }
    await together(tasks, tell).catch((error: unknown) => process.stderr.write(`${tasks.length} jobs do not run together: ${messageOf(error).replaceAll('\n', ' ')}\n`))
    for (const [index, task] of tasks.entries()) if (!done.has(index)) tell(index, await outcomeOf(task))
  }

  const answer = async (task: Task | Unload): Promise<void> => parentPort?.postMessage(await outcomeOf(task))
  parentPort?.on('message', (message: Task | Unload | ReadonlyArray<Task>) => void ('kind' in message ? answer(message) : answerAll(message)))
}
