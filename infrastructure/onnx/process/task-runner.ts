import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../application/ports/environment.ts'
import { startEngineChild } from './engine-child.ts'
import type { EngineChild } from './engine-child.ts'
import type { ProviderChoice } from '../providers/execution-provider.ts'
import type { EngineRole, Outcome, Reply, Task } from './messages.ts'
import { createWatchdog } from './watchdog.ts'

/** Runs tasks in an engine process that may die at any time. */
export interface TaskRunner {
  readonly run: (task: Task) => Promise<Outcome>
  readonly pid: () => number | undefined
  readonly close: () => Promise<void>
}

/** Milliseconds that a thread of the engine may work on a task; those of `load` come on top where it loads the model first. */
export type TaskLimits = Readonly<Record<Task['kind'], number>>

interface Pending {
  readonly id: number
  readonly task: Task
  readonly resolve: (outcome: Outcome) => void
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 10_000
/** Starts in a row that never came to `ready`, after which waiting tasks are told so. */
const HOPELESS_STARTS = 3

/**
 * Tasks that were in flight when the process died are suspects: they run again one at a time, before anything else. One
 * that is alone in a process that dies has brought it down and fails; the others have lost nothing but time. A process
 * in which a task takes longer than its limit (the wait for its turn not counted, but for detection), or that says nothing at all for so
 * long, hangs in native code: it is killed, and counts as dead.
 */
export const createTaskRunner = (options: {
  readonly role: EngineRole
  readonly workers: number
  readonly logger: Logger
  readonly execArgv: ReadonlyArray<string>
  readonly limits: TaskLimits
  /** A process is ready; it may have found other hardware than the one before. */
  readonly onReady?: (choice: ProviderChoice) => void
}): TaskRunner => {
  const { role, logger, limits } = options
  const longest = limits.load + Math.max(limits.transcribe, limits.translate)
  const inFlight = new Map<number, Pending>()
  let waiting: ReadonlyArray<Pending> = []
  let suspects: ReadonlyArray<Pending> = []
  let onTrial = false
  let child: EngineChild | null = null
  let ready = false
  let deathsInARow = 0
  let failedStarts = 0
  let restart: NodeJS.Timeout | null = null
  let nextId = 0
  let closed: PromiseWithResolvers<void> | null = null

  const fail = (pending: Pending, reason: string): void => pending.resolve(E.left({ _tag: 'JobFailed', reason }))

  const watchdog = createWatchdog<number | 'process'>((overdue, ms) =>
    child?.abandon(overdue === 'process' ? `it said nothing for ${ms} ms` : `a task took longer than ${ms} ms`),
  )

  const send = (pending: Pending): void => {
    inFlight.set(pending.id, pending)
    if (inFlight.size === 1) watchdog.watch('process', longest)
    // The thread that detects speech cannot say that it began while it hangs.
    if (pending.task.kind === 'detect') watchdog.watch(pending.id, limits.detect)
    child?.send({ kind: 'task', id: pending.id, task: pending.task })
  }

  const pump = (): void => {
    if (!ready || onTrial) return
    const [suspect, ...others] = suspects
    if (suspect === undefined) {
      const batch = waiting
      waiting = []
      batch.forEach(send)
    } else if (inFlight.size === 0) {
      suspects = others
      onTrial = true
      send(suspect)
    }
  }

  const onReply = (reply: Reply): void => {
    switch (reply.kind) {
      case 'ready':
        ready = true
        failedStarts = 0
        logger.info({ engine: role, ...reply.choice }, 'execution provider')
        options.onReady?.(reply.choice)
        child?.send({ kind: 'configure', workers: options.workers })
        break
      case 'began':
        watchdog.watch(reply.id, reply.loads ? longest : limits[inFlight.get(reply.id)?.task.kind ?? 'transcribe'])
        break
      case 'outcome':
        deathsInARow = 0
        onTrial = false
        watchdog.release(reply.id)
        inFlight.get(reply.id)?.resolve(reply.outcome)
        inFlight.delete(reply.id)
    }
    if (inFlight.size > 0) watchdog.watch('process', longest)
    else watchdog.release('process')
    pump()
  }

  const failWaiting = (reason: string): void => {
    const given = [...suspects, ...waiting]
    suspects = []
    waiting = []
    given.forEach((pending) => fail(pending, reason))
  }

  const onExit = (reason: string): void => {
    const caught = [...inFlight.values()]
    inFlight.clear()
    watchdog.releaseAll()
    child = null
    if (closed !== null) {
      closed.resolve()
      return
    }
    logger.warn({ engine: role, reason, inFlight: caught.length }, 'engine process died')
    if (onTrial) caught.forEach((pending) => fail(pending, `it brought the engine process down (${reason})`))
    else suspects = [...suspects, ...caught]
    onTrial = false
    failedStarts = ready ? 0 : failedStarts + 1
    ready = false
    if (failedStarts >= HOPELESS_STARTS) failWaiting(`the engine process does not start (${reason})`)
    restart = setTimeout(start, Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** deathsInARow))
    deathsInARow += 1
  }

  const start = (): void => {
    restart = null
    const onErrorLine = (line: string): void => logger.warn({ engine: role, line }, 'engine process')
    child = startEngineChild(role, options.execArgv, { onReply, onErrorLine, onExit })
    logger.info({ engine: role, pid: child.pid }, 'engine process started')
  }

  start()
  return {
    run: async (task) =>
      new Promise((resolve) => {
        const pending = { id: nextId++, task, resolve }
        if (closed !== null) {
          fail(pending, 'the engine is closed')
          return
        }
        waiting = [...waiting, pending]
        pump()
      }),
    pid: () => child?.pid,
    close: async () => {
      if (closed !== null) return closed.promise
      closed = Promise.withResolvers()
      if (restart !== null) clearTimeout(restart)
      watchdog.releaseAll()
      failWaiting('the engine is closed')
      inFlight.forEach((pending) => fail(pending, 'the engine is closed'))
      if (child === null) closed.resolve()
      else child.stop()
      return closed.promise
    },
  }
}
