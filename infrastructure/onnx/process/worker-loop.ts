import { parentPort } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { CallOff, Outcome, PlacedOutcome, Task, Unload } from './messages.ts'

/** Of what nobody calls off. */
const NEVER = new AbortController().signal

/** Performs a task; `signal` is aborted when nobody waits for its outcome any more. */
type Perform = (task: Task, signal: AbortSignal) => Promise<Outcome>

/** Performs several tasks for one model at once, and says of each when it is done; it may leave some to be performed alone. */
export type Together = (
  tasks: ReadonlyArray<Task>,
  onOutcome: (index: number, outcome: Outcome) => void,
  signals: ReadonlyArray<AbortSignal>,
) => Promise<void>

interface Abilities {
  readonly together: Together
  readonly unload: (model: string) => Promise<void>
}

/**
 * The message loop of a worker thread: a task in, its outcome out; or several in, and their outcomes out as they come, each with the
 * place of its task. An exception is the failure of its task alone: of several that broke each is tried by itself.
 */
export const serveTasks = (
  perform: Perform,
  { together = async () => undefined, unload = async () => undefined }: Partial<Abilities> = {},
): void => {
  /** Of what it works on, by place. */
  let callOffs: ReadonlyArray<AbortController> = []

  const outcomeOf = (task: Task | Unload, signal: AbortSignal): Promise<Outcome> =>
    (task.kind === 'unload' ? unload(task.model).then(() => E.right(null)) : perform(task, signal)).catch((error: unknown): Outcome => E.left({ _tag: 'JobFailed', reason: messageOf(error) }))

  const answerAll = async (tasks: ReadonlyArray<Task>, signals: ReadonlyArray<AbortSignal>): Promise<void> => {
    const done = new Set<number>()
    const tell = (index: number, outcome: Outcome): void => {
      done.add(index)
      parentPort?.postMessage([index, outcome] satisfies PlacedOutcome)
    }
    await together(tasks, tell, signals).catch((error: unknown) => process.stderr.write(`${tasks.length} jobs do not run together: ${messageOf(error).replaceAll('\n', ' ')}\n`))
    for (const [index, task] of tasks.entries()) {
      if (!done.has(index)) tell(index, await outcomeOf(task, signals[index] ?? NEVER))
    }
  }

  const answer = async (task: Task | Unload, signal: AbortSignal): Promise<void> => parentPort?.postMessage(await outcomeOf(task, signal))

  parentPort?.on('message', (message: Task | Unload | CallOff | ReadonlyArray<Task>) => {
    if ('kind' in message && message.kind === 'callOff') return callOffs[message.place]?.abort()
    const tasks = 'kind' in message ? [message] : message
    callOffs = tasks.map(() => new AbortController())
    const signals = callOffs.map(({ signal }) => signal)
    const [signal = NEVER] = signals
    void ('kind' in message ? answer(message, signal) : answerAll(message, signals))
  })
}
