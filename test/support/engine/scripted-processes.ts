import assert from 'node:assert/strict'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EngineChildEvents, startEngineChild } from '../../../infrastructure/onnx/process/engine-child.ts'
import type { Outcome, Request, Task } from '../../../infrastructure/onnx/process/messages.ts'
import { createPassLimits, type TaskLimits } from '../../../infrastructure/onnx/process/pass-limits.ts'
import { createTaskRunner } from '../../../infrastructure/onnx/process/task-runner.ts'
import { eventually } from '../tools/eventually.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

interface ScriptedOptions {
  readonly workers?: number
  readonly limits?: Partial<TaskLimits>
  /** Number of tasks at a time on the GPU. Absent: no GPU. */
  readonly onGpu?: number
}

/** Returns a task runner with scripted engine processes: the test decides when they begin, answer and die. */
export const scriptedProcesses = (t: ExecutionContext, options: ScriptedOptions = {}) => {
  const { workers = 4, limits, onGpu } = options
  let events: EngineChildEvents | null = null
  let [started, threads] = [0, 0]
  let inFlight: ReadonlyArray<{ readonly id: number; readonly task: Task }> = []
  const startChild: typeof startEngineChild = (_role, _execArgv, handlers) => {
    events = handlers
    started += 1
    inFlight = []
    const exit = (reason: string): void => {
      if (events !== handlers) return
      events = null
      handlers.onExit(reason)
    }
    queueMicrotask(() =>
      handlers.onReply({ kind: 'ready', choice: { provider: onGpu === undefined ? 'cpu' : 'cuda', why: 'scripted' } }),
    )
    const send = (request: Request): void => {
      if (request.kind !== 'task') return
      inFlight = [...inFlight, request]
      threads = request.threads
    }
    return { pid: started, send, stop: () => exit('stopped'), abandon: exit }
  }
  const logger = createRecordingLogger()
  const passes = createPassLimits({ floor: 60_000 })
  const runner = createTaskRunner({
    role: 'speech',
    workers,
    logger,
    execArgv: [],
    startChild,
    limits: { detect: 60_000, load: 60_000, passes, ...limits },
    widthOn: () => onGpu ?? workers,
  })
  t.teardown(runner.close)

  const nameOf = ({ task }: { readonly task: Task }): string =>
    task.kind === 'transcribe' ? task.job.model : task.kind
  const named = (name: string) => {
    const found = inFlight.find((request) => nameOf(request) === name)
    assert.ok(found, `${name} is not in flight`)
    return found
  }
  return {
    runner,
    logger,
    started: () => started,
    threads: () => threads,
    inFlight: () => inFlight.map(nameOf),
    transcribe: (name: string): Promise<Outcome> => {
      const job = { model: name, language: 'en', samples: new Int16Array(1) }
      return runner.run({ kind: 'transcribe', job, folder: null })
    },
    detect: (): Promise<Outcome> => runner.run({ kind: 'detect', samples: new Int16Array(512), state: null }),
    begin: (name: string, loads = false): void => events?.onReply({ kind: 'began', id: named(name).id, loads }),
    answer: (name: string): void => {
      const { id } = named(name)
      inFlight = inFlight.filter((request) => request.id !== id)
      events?.onReply({ kind: 'outcome', id, outcome: E.right(null) })
    },
    die: (reason = 'SIGSEGV'): void => {
      const handlers = events
      events = null
      inFlight = []
      handlers?.onExit(reason)
    },
    until: (...names: ReadonlyArray<string>): Promise<void> =>
      eventually(() => assert.deepEqual(inFlight.map(nameOf).toSorted(), names.toSorted())),
  }
}
