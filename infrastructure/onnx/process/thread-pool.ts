import { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import { CANCELLED } from '../speech-runner.ts'
import type { Cancel, Outcome, PlacedOutcome, Task, Unload } from './messages.ts'

export interface ThreadSettings {
  readonly provider: Provider
}

export interface ThreadPool {
  /**
   * Runs a task on a thread. `onBegin` is called right before; `loads`: the thread loads the task's model first. An
   * aborted `signal` cancels the task, and its outcome comes soon.
   */
  readonly run: (task: Task, onBegin: (loads: boolean) => void, signal?: AbortSignal) => Promise<Outcome>
}

interface Job {
  readonly task: Task | Unload
  readonly onBegin: (loads: boolean) => void
  readonly resolve: (outcome: Outcome) => void
  readonly signal?: AbortSignal | undefined
}

interface Member {
  readonly thread: Worker
  /** Models that it has loaded or is loading, with the time of their last task in milliseconds. */
  readonly models: Map<string, number>
  /** Jobs in progress by their place in the batch; empty when the thread is idle. */
  readonly jobs: Map<number, Job>
}

/** Returns the model of a task; null for detection, which needs no model. */
export const modelOf = (task: Task | Unload): string | null => {
  switch (task.kind) {
    case 'load':
    case 'unload':
      return task.model
    case 'transcribe':
    case 'translate':
      return task.job.model
    case 'detect':
      return null
  }
}

const isLoadFailure = (outcome: Outcome): boolean => E.isLeft(outcome) && outcome.left._tag === 'ModelLoadFailed'

/** Returns the measured batch size in the outcome of a load. */
const batchIn = (outcome: Outcome): number | undefined => {
  if (E.isLeft(outcome) || typeof outcome.right !== 'object' || outcome.right === null) return undefined
  return 'batch' in outcome.right ? outcome.right.batch : undefined
}

/** Milliseconds for which an unused copy of a model stays loaded: an additional copy, and the only copy. */
interface Keep {
  readonly further: number
  readonly only: number
}

/** The only copy stays long, for a session that pauses. Further copies go soon: no session reserves their memory. */
const KEEP: Keep = { further: 60_000, only: 600_000 }
/** Number of checks for unused copies within the time `keep.further`. */
const CHECKS_PER_PERIOD = 6

/**
 * Creates a pool of up to `size` threads, which start when they are needed. A thread runs one task at a time, or up to
 * `batch` transcriptions of one model. Tasks begin in their order of arrival, except for two rules:
 *
 * - A task may join the batch of an earlier task.
 * - A task whose model is loaded waits for a busy thread with this model, if the model has at least as many copies as
 *   tasks. A session has one task and reserves memory for one copy, so a further copy would exceed the reserved memory.
 *
 * Unused copies are unloaded. `onDeath` is called when a thread ends, which must not happen.
 */
export const createThreadPool = (options: {
  readonly script: URL
  /** Returns the number of threads. It may grow. */
  readonly size: () => number
  readonly provider?: Provider
  readonly batch?: number
  readonly keep?: Keep
  readonly onDeath: (reason: string) => void
}): ThreadPool => {
  const members: Member[] = []
  let queue: ReadonlyArray<Job> = []
  const { provider = 'cpu', batch = 1, keep = KEEP } = options

  /** Measured batch size of each loaded model. */
  const batches = new Map<string, number>()

  const start = (): Member => {
    const thread = new Worker(options.script, { workerData: { provider } satisfies ThreadSettings })
    const member: Member = { thread, models: new Map(), jobs: new Map() }
    thread.on('message', (message: Outcome | PlacedOutcome) => {
      const [place, outcome] = '_tag' in message ? [0, message] : message
      const job = member.jobs.get(place)
      member.jobs.delete(place)
      if (job === undefined) return
      const model = modelOf(job.task)
      if (model !== null && isLoadFailure(outcome)) member.models.delete(model)
      if (model !== null) batches.set(model, batchIn(outcome) ?? batches.get(model) ?? batch)
      job.resolve(outcome)
      pump()
    })
    thread.on('error', (error) => options.onDeath(String(error)))
    thread.on('exit', (code) => options.onDeath(`worker thread ended with ${code}`))
    members.push(member)
    // A thread without a task must not keep the process alive.
    thread.unref()
    return member
  }

  const copiesOf = (model: string): number => members.filter(({ models }) => models.has(model)).length

  /** Returns the number of running and waiting tasks of a model. */
  const tasksOf = (model: string): number =>
    [...queue, ...members.flatMap(({ jobs }) => [...jobs.values()])]
      .filter(({ task }) => modelOf(task) === model).length

  const memberFor = (task: Task | Unload): Member | null => {
    const idle = members.filter(({ jobs }) => jobs.size === 0)
    const model = modelOf(task)
    const prepared = model === null ? undefined : idle.find(({ models }) => models.has(model))
    if (prepared !== undefined) return prepared
    if (model !== null && copiesOf(model) > 0 && tasksOf(model) <= copiesOf(model)) return null
    const [emptiest] = idle.toSorted((a, b) => a.models.size - b.models.size)
    if (emptiest !== undefined && (emptiest.models.size === 0 || members.length >= options.size())) return emptiest
    return members.length < options.size() ? start() : null
  }

  /** Returns the job and the waiting jobs of its model that fit in one batch. */
  const batchOf = (job: Job): readonly [Job, ...ReadonlyArray<Job>] => {
    const model = modelOf(job.task)
    const maxBatch = batches.get(model ?? '') ?? batch
    if (maxBatch === 1 || job.task.kind !== 'transcribe') return [job]
    const others = queue.filter((other) =>
      other !== job && other.task.kind === 'transcribe' && modelOf(other.task) === model)
    return [job, ...others.slice(0, maxBatch - 1)]
  }

  const assign = (member: Member, [first, ...others]: readonly [Job, ...ReadonlyArray<Job>]): void => {
    const jobs = [first, ...others]
    const model = modelOf(first.task)
    const loads = model !== null && !member.models.has(model)
    jobs.forEach((job, place) => member.jobs.set(place, job))
    if (model !== null) member.models.set(model, performance.now())
    // Before the message, because the task may kill the process at once.
    for (const { onBegin } of jobs) onBegin(loads)
    member.thread.postMessage(others.length === 0 ? first.task : jobs.map(({ task }) => task))
    for (const job of jobs) if (job.signal?.aborted === true) cancel(job)
  }

  /** Resolves a waiting job at once. For a running job, sends a cancellation to its thread. */
  const cancel = (job: Job): void => {
    if (queue.includes(job)) {
      queue = queue.filter((other) => other !== job)
      return job.resolve(E.left({ _tag: 'JobFailed', reason: CANCELLED }))
    }
    for (const { thread, jobs } of members) {
      for (const [place, other] of jobs) {
        if (other === job) thread.postMessage({ kind: 'cancel', place } satisfies Cancel)
      }
    }
  }

  const pump = (): void => {
    for (const job of queue) {
      const member = queue.includes(job) ? memberFor(job.task) : null
      if (member === null) continue
      const batched = batchOf(job)
      queue = queue.filter((other) => !batched.includes(other))
      assign(member, batched)
    }
  }

  /** Returns a model of an idle thread that was not used for too long. */
  const unusedModel = ({ jobs, models }: Member): string | undefined => {
    if (jobs.size > 0) return undefined
    const limitOf = (model: string): number => (copiesOf(model) > 1 ? keep.further : keep.only)
    return [...models].find(([model, lastUse]) => performance.now() - lastUse > limitOf(model))?.[0]
  }

  const unloadUnused = (): void => {
    for (const member of members) {
      const model = unusedModel(member)
      if (model === undefined) continue
      assign(member, [{ task: { kind: 'unload', model }, onBegin: () => undefined, resolve: () => undefined }])
      member.models.delete(model)
    }
  }
  setInterval(unloadUnused, Math.max(1, keep.further / CHECKS_PER_PERIOD)).unref()

  return {
    run: async (task, onBegin, signal) =>
      new Promise((resolve) => {
        const job: Job = { task, onBegin, resolve, signal }
        signal?.addEventListener('abort', () => cancel(job), { once: true })
        queue = [...queue, job]
        pump()
      }),
  }
}
