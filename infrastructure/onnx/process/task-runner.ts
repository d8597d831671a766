import * as E from 'fp-ts/lib/Either.js'
import type { Device } from '../../../application/ports/engine.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { Provider, ProviderChoice } from '../providers/execution-provider.ts'
import { CANCELLED } from '../speech-runner.ts'
import { type EngineChild, startEngineChild } from './engine-child.ts'
import type { EngineRole, Outcome, Reply, Task } from './messages.ts'
import { limitOf, type TaskLimits } from './pass-limits.ts'
import { inGroups, suspectsOf, type Suspicious, trialsOf } from './suspects.ts'
import { createWatchdog } from './watchdog.ts'
import { createWidth } from './width.ts'

/** Runs tasks in an engine process that may die at any time. */
export interface TaskRunner {
  /** Runs a task. An aborted `signal` cancels it, and its outcome comes soon. */
  readonly run: (task: Task, signal?: AbortSignal) => Promise<Outcome>
  /** Returns the number of tasks that the process may run at a time on a device, without detection. */
  readonly widthOf: (device: Device['name']) => number
  readonly pid: () => number | undefined
  readonly close: () => Promise<void>
}

interface Pending extends Suspicious {
  readonly task: Task
  readonly resolve: (outcome: Outcome) => void
  begunAt: number | null
  /** The thread loaded its model first. */
  loads: boolean
  deaths: number
}

const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 10_000
/** A process that ran this long did not die of the same cause as the previous process. */
const STEADY_MS = 60_000
/** After this many starts in a row without `ready`, waiting tasks fail. */
const MAX_FAILED_STARTS = 3
/** A detection that was in flight at this many deaths fails. It takes only milliseconds, so it must be the cause. */
const DEADLY_DETECTION = 2
/** The signal with which the system kills a process when memory runs out. */
const KILLED = 'SIGKILL'

const isDetection = ({ task }: Pending): boolean => task.kind === 'detect'

/**
 * Runs tasks in an engine process and starts it again when it dies.
 *
 * - Tasks that had begun when the process died are suspects. They run again in two halves, then in quarters, while only
 *   detection runs next to them. If the process dies while a single suspect runs, this suspect fails.
 * - A process hangs when a task takes longer than its limit, or when the process sends nothing for too long. It is then
 *   killed. The time that a task waits does not count, except for detection.
 * - When memory runs out, the system sends SIGKILL. Then half as many tasks run at a time.
 *
 * Every other task is sent at once: it waits in the process until a thread can run it.
 */
export const createTaskRunner = (options: {
  readonly role: EngineRole
  readonly workers: number
  readonly logger: Logger
  readonly execArgv: ReadonlyArray<string>
  readonly gpu?: string | undefined
  readonly limits: TaskLimits
  /** Returns how many tasks the device of `provider` runs at a time. `workers` is this number for the CPU. */
  readonly widthOn?: (provider: Provider) => number
  readonly startChild?: typeof startEngineChild
}): TaskRunner => {
  const { role, logger, limits, workers } = options
  const { widthOn = () => workers, startChild = startEngineChild } = options
  const width = createWidth(workers, () => performance.now())
  const inFlight = new Map<number, Pending>()
  const detections: Array<Pending> = []
  const waiting: Array<Pending> = []
  let trials: ReadonlyArray<ReadonlyArray<Pending>> = []
  let onTrial: ReadonlyArray<Pending> | null = null
  let child: EngineChild | null = null
  let ready = false
  let deviceWidth = workers
  let startedAt = 0
  let overdueTask: number | null = null
  let deathsInARow = 0
  let failedStarts = 0
  let restart: NodeJS.Timeout | null = null
  let nextId = 0
  let closed: PromiseWithResolvers<void> | null = null

  const fail = (pending: Pending, reason: string): void => pending.resolve(E.left({ _tag: 'JobFailed', reason }))

  const watchdog = createWatchdog<number | 'process'>((overdue, ms) => {
    overdueTask = overdue === 'process' ? null : overdue
    child?.abandon(overdue === 'process' ? `the process sent nothing for ${ms} ms` : `a task took longer than ${ms} ms`)
  })

  const watchProcess = (): void => {
    if (inFlight.size === 0) watchdog.release('process')
    else watchdog.watch('process', Math.max(...[...inFlight.values()].map(({ task }) => limitOf(task, true, limits))))
  }

  /** After a kill because of memory, both devices run fewer tasks. */
  const widthOf = (device: Device['name']): number => Math.min(width.now(), device === 'cpu' ? workers : deviceWidth)

  const send = (pending: Pending): void => {
    pending.begunAt = null
    inFlight.set(pending.id, pending)
    if (inFlight.size === 1) watchProcess()
    // Detection runs on the main thread, which cannot report the begin of a task while it hangs.
    if (isDetection(pending)) watchdog.watch(pending.id, limits.detect)
    child?.send({ kind: 'task', id: pending.id, task: pending.task, threads: widthOf('cpu') })
  }

  const pump = (): void => {
    if (!ready) return
    detections.splice(0).forEach(send)
    if ([...inFlight.values()].every(isDetection)) {
      onTrial = trials[0] ?? null
      trials = trials.slice(1)
      onTrial?.forEach(send)
    }
    if (onTrial === null && trials.length === 0) waiting.splice(0).forEach(send)
  }

  const onOutcome = (id: number, outcome: Outcome): void => {
    watchdog.release(id)
    const pending = inFlight.get(id)
    if (pending === undefined) return
    inFlight.delete(id)
    const { task, begunAt, loads } = pending
    if ('job' in task && begunAt !== null && !loads && E.isRight(outcome))
      limits.passes.recordDuration(task.job.model, performance.now() - begunAt)
    pending.resolve(outcome)
  }

  const onReady = (choice: ProviderChoice): void => {
    ready = true
    failedStarts = 0
    deviceWidth = widthOn(choice.provider)
    width.resize(Math.max(workers, deviceWidth))
    const { provider, why } = choice
    logger.info({ engine: role, provider, why }, `models run on ${provider}`)
  }

  const onReply = (reply: Reply): void => {
    if (reply.kind === 'ready') onReady(reply.choice)
    if (reply.kind === 'outcome') onOutcome(reply.id, reply.outcome)
    const begun = reply.kind === 'began' ? inFlight.get(reply.id) : undefined
    if (reply.kind === 'began' && begun !== undefined) {
      begun.begunAt = performance.now()
      begun.loads = reply.loads
      watchdog.watch(reply.id, limitOf(begun.task, reply.loads, limits))
    }
    watchProcess()
    pump()
  }

  const cancel = (pending: Pending): void => {
    const at = waiting.indexOf(pending)
    if (at !== -1) fail(waiting.splice(at, 1)[0] ?? pending, CANCELLED)
    else if (inFlight.has(pending.id)) child?.send({ kind: 'cancel', id: pending.id })
  }

  const failWaiting = (reason: string): void => {
    const tasks = [...detections.splice(0), ...trials.flat(), ...waiting.splice(0)]
    trials = []
    tasks.forEach((pending) => fail(pending, reason))
  }

  /** Fails or repeats the tasks that were in flight when the process died. */
  const failOrRepeat = (caught: ReadonlyArray<Pending>, reason: string): void => {
    for (const pending of caught) pending.deaths += 1
    const deadly = caught.filter((pending) => isDetection(pending) && pending.deaths >= DEADLY_DETECTION)
    deadly.forEach((pending) => fail(pending, `two engine processes died during this task (${reason})`))
    detections.unshift(...caught.filter((pending) => isDetection(pending) && !deadly.includes(pending)))
    const work = caught.filter((pending) => !isDetection(pending))
    const isDetectionOverdue = caught.some((pending) => isDetection(pending) && pending.id === overdueTask)
    // A hanging detection makes no other task a suspect.
    const suspects = isDetectionOverdue ? (onTrial === null ? [] : work) : suspectsOf(work, overdueTask)
    waiting.unshift(...work.filter((pending) => !suspects.includes(pending)))
    const [only, ...others] = suspects
    const isCause = onTrial?.length === 1 && others.length === 0 && deadly.length === 0 && !isDetectionOverdue
    if (only !== undefined && isCause) fail(only, `the engine process died during this task (${reason})`)
    else trials = [...trialsOf(suspects, width.now()), ...trials]
    // After a kill for lack of memory, earlier groups may be too large. They are split.
    trials = trials.flatMap((group) => inGroups(group, width.now()))
    onTrial = null
    overdueTask = null
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
    if (reason === KILLED) width.halve()
    logger.warn({ engine: role, reason, inFlight: caught.length, tasksAtATime: width.now() }, 'engine process died')
    failOrRepeat(caught, reason)
    failedStarts = ready ? 0 : failedStarts + 1
    ready = false
    if (failedStarts >= MAX_FAILED_STARTS) failWaiting(`the engine process does not start (${reason})`)
    if (performance.now() - startedAt > STEADY_MS) deathsInARow = 0
    restart = setTimeout(start, Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** deathsInARow))
    deathsInARow += 1
  }

  const start = (): void => {
    restart = null
    startedAt = performance.now()
    const onErrorLine = (line: string): void => logger.warn({ engine: role, line }, 'engine process')
    child = startChild(role, options.execArgv, { onReply, onErrorLine, onExit }, options.gpu)
    logger.info({ engine: role, pid: child.pid }, 'engine process started')
  }

  start()
  return {
    run: async (task, signal) =>
      new Promise((resolve) => {
        const pending: Pending = { id: nextId++, task, resolve, begunAt: null, loads: false, deaths: 0 }
        if (closed !== null) return fail(pending, 'the engine is closed')
        const queue = isDetection(pending) ? detections : waiting
        queue.push(pending)
        signal?.addEventListener('abort', () => cancel(pending), { once: true })
        pump()
      }),
    widthOf,
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
