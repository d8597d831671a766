import assert from 'node:assert/strict'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createPassLimits, type TaskLimits } from '../../../infrastructure/onnx/process/pass-limits.ts'
import { eventually } from '../../support/tools/eventually.ts'
import type { EngineChildEvents, startEngineChild } from '../../../infrastructure/onnx/process/engine-child.ts'
import type { Outcome, Request, Task } from '../../../infrastructure/onnx/process/messages.ts'
import { createTaskRunner } from '../../../infrastructure/onnx/process/task-runner.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'

interface ScriptedOptions {
  readonly workers?: number
  readonly limits?: Partial<TaskLimits>
  /** Number of tasks at a time on the GPU. Absent: no GPU. */
  readonly onGpu?: number
}

/** Returns a task runner with scripted engine processes: the test decides when they begin, answer and die. */
const scriptedProcesses = (t: ExecutionContext, options: ScriptedOptions = {}) => {
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

const DONE = E.right(null)

test('only a task that had begun can be blamed for a death, and waiting tasks run again', async (t) => {
  const { transcribe, begin, die, answer, until } = scriptedProcesses(t, { workers: 3 })
  const [deadly, ...bystanders] = ['deadly', 'bystander', 'other'].map(transcribe)
  await until('deadly', 'bystander', 'other')
  begin('deadly')
  die()
  await until('deadly')
  begin('deadly')
  die()
  t.deepEqual(await deadly, E.left({ _tag: 'JobFailed', reason: 'the engine process died during this task (SIGSEGV)' }))
  await until('bystander', 'other')
  answer('bystander')
  answer('other')
  t.deepEqual(await Promise.all(bystanders), [DONE, DONE])
})

test('the deadly task of eight is found by halving the group, and no other task fails', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const { transcribe, begin, die, answer, inFlight, started } = scriptedProcesses(t, { workers: 8 })
  const outcomes = Promise.all(names.map(transcribe))
  await eventually(() => assert.equal(inFlight().length, 8))
  const trials: Array<string> = []
  const runGroup = async (): Promise<void> => {
    const group = await eventually(() => {
      assert.ok(inFlight().length > 0)
      return inFlight()
    })
    trials.push(group.join(''))
    group.forEach((name) => begin(name))
    if (group.includes('c')) die()
    else group.forEach(answer)
  }
  names.forEach((name) => begin(name))
  die()
  while (trials.join(' ').split(' ').at(-1) !== 'efgh') await runGroup()
  t.deepEqual(trials, ['abcd', 'ab', 'cd', 'c', 'd', 'efgh'])
  t.is(started(), 5)
  const failed = (await outcomes).flatMap((outcome, index) => (E.isLeft(outcome) ? [names[index]] : []))
  t.deepEqual(failed, ['c'])
})

test('detection goes on while the tasks of a dead process are repeated', async (t) => {
  const { transcribe, detect, begin, die, answer, until } = scriptedProcesses(t)
  const [first, second] = [transcribe('first'), transcribe('second')]
  await until('first', 'second')
  begin('first')
  begin('second')
  die()
  await until('first')
  const detected = detect()
  await until('first', 'detect')
  answer('detect')
  t.deepEqual(await detected, DONE)
  answer('first')
  await until('second')
  answer('second')
  t.deepEqual([await first, await second], [DONE, DONE])
})

test('a detection that was running when the process died twice fails, and the transcription is repeated', async (t) => {
  const { transcribe, detect, begin, die, answer, until } = scriptedProcesses(t)
  const [task, detection] = [transcribe('task'), detect()]
  await until('task', 'detect')
  begin('task')
  die()
  await until('task', 'detect')
  die()
  t.like(await detection, { _tag: 'Left', left: { _tag: 'JobFailed' } })
  await until('task')
  answer('task')
  t.deepEqual(await task, DONE)
})

test('an overdue detection fails, and the task that ran with it is repeated', async (t) => {
  const { transcribe, detect, begin, die, answer, until, started } = scriptedProcesses(t, { limits: { detect: 30 } })
  const task = transcribe('task')
  await until('task')
  begin('task')
  die()
  await until('task')
  begin('task')
  const detection = await detect()
  t.like(detection, { _tag: 'Left', left: { _tag: 'JobFailed' } })
  await eventually(() => assert.equal(started(), 4))
  await until('task')
  answer('task')
  t.deepEqual(await task, DONE)
})

test('after SIGKILL, the groups of repeated tasks are no larger than the number of parallel tasks', async (t) => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  const { transcribe, begin, die, answer, inFlight, started } = scriptedProcesses(t, { workers: 8 })
  const outcomes = Promise.all(names.map(transcribe))
  const trials: Array<string> = []
  const nextGroup = async (processes: number): Promise<ReadonlyArray<string>> => {
    const group = await eventually(() => {
      assert.ok(started() === processes && inFlight().length > 0)
      return inFlight()
    })
    trials.push(group.join(''))
    group.forEach((name) => begin(name))
    return group
  }
  await nextGroup(1)
  die('SIGKILL')
  await nextGroup(2)
  die('SIGKILL')
  while (trials.join('').length < 20) (await nextGroup(3)).forEach(answer)
  t.deepEqual(trials, ['abcdefgh', 'abcd', 'ab', 'cd', 'ef', 'gh'])
  t.true((await outcomes).every(E.isRight))
})

test('an overdue task fails, and the task that ran with it does not', async (t) => {
  const passes = createPassLimits({
    floor: 1,
    unmeasured: 60_000,
    measured: (model) => (model === 'hangs' ? 10 : undefined),
  })
  const { transcribe, begin, answer, until } = scriptedProcesses(t, { limits: { passes } })
  const [other, hangs] = [transcribe('other'), transcribe('hangs')]
  await until('other', 'hangs')
  begin('other')
  begin('hangs')
  await until('hangs')
  begin('hangs')
  t.deepEqual(
    await hangs,
    E.left({ _tag: 'JobFailed', reason: 'the engine process died during this task (a task took longer than 50 ms)' }),
  )
  await until('other')
  answer('other')
  t.deepEqual(await other, DONE)
})

test('each SIGKILL halves the number of parallel tasks, down to one', async (t) => {
  const { runner, transcribe, die, inFlight, logger, started, threads } = scriptedProcesses(t, { workers: 4 })
  const outcomes = ['a', 'b', 'c', 'd', 'e', 'f'].map(transcribe)
  await eventually(() => assert.equal(inFlight().length, 6))
  for (const width of [2, 1, 1]) {
    const startedBefore = started()
    die('SIGKILL')
    t.is(runner.widthOf('cpu'), width)
    await eventually(() => assert.ok(started() > startedBefore && inFlight().length > 0))
    t.true(inFlight().length <= width)
    t.is(threads(), width)
  }
  t.true(logger.lines.some(({ message, fields }) => message === 'engine process died' && fields['tasksAtATime'] === 1))
  await runner.close()
  await Promise.all(outcomes)
})

test('a death by SIGSEGV does not change the number of parallel tasks', async (t) => {
  const { runner, transcribe, die, inFlight } = scriptedProcesses(t, { workers: 4 })
  const outcome = transcribe('a')
  await eventually(() => assert.equal(inFlight().length, 1))
  die('SIGSEGV')
  t.is(runner.widthOf('cpu'), 4)
  await runner.close()
  await outcome
})

test('all tasks are sent at once, with the number of CPU threads that may run', async (t) => {
  const { runner, transcribe, detect, until, threads } = scriptedProcesses(t, { workers: 2, onGpu: 3 })
  const outcomes = [...['a', 'b', 'c', 'd'].map(transcribe), detect()]
  await until('a', 'b', 'c', 'd', 'detect')
  t.deepEqual([threads(), runner.widthOf('cpu'), runner.widthOf('gpu')], [2, 2, 3])
  await runner.close()
  await Promise.all(outcomes)
})
