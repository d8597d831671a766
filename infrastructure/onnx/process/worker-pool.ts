import { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import { CALLED_OFF } from '../speech-runner.ts'
import type { CallOff, Outcome, PlacedOutcome, Task, Unload } from './messages.ts'

/** What a worker thread is told when it starts. */
export interface WorkerSettings {
  readonly provider: Provider
}

export interface WorkerPool {
  /**
   * `onBegin`: a thread is about to take the task on; `loads`: it has yet to load the task's model. `signal`: once it is aborted nobody waits for
   * the outcome, and the task soon has one.
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
  readonly worker: Worker
  /** Models that it has loaded, or is loading, and when it last began a task of theirs. */
  readonly models: Map<string, number>
  /** What it works on, by the place in the batch that it was given; empty where it is idle. */
  readonly jobs: Map<number, Job>
}

/** Null of what needs none. */
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

/** What a loaded model's first outcome tells. */
const batchIn = (outcome: Outcome): number | undefined =>
  E.isRight(outcome) && typeof outcome.right === 'object' && outcome.right !== null && 'batch' in outcome.right ? outcome.right.batch : undefined

/** Milliseconds for which a set that nobody uses stays loaded: one that is not the only one of its model, and the only one. */
interface Keep {
  readonly further: number
  readonly only: number
}

/** A session that pauses finds its model loaded; memory that no session has reserved any more is soon free. */
const KEEP: Keep = { further: 60_000, only: 600_000 }
const LOOKS_IN_THE_TIME = 6

/**
 * Up to `size` threads, started when needed, with one task at a time each, or up to `batch` transcriptions by one
 * model, where it gains by that; tasks begin in the order they came, but for those that join an earlier one's batch and those that wait for a thread that has
 * their model. A model has no more sets than there are tasks of it at a time, for a session has reserved memory for one
 * and has one task: a thread that has the model and is busy is waited for rather than load it in another. What is not
 * used is unloaded. `onDeath`: a thread ended, which none should.
 */
export const createWorkerPool = (options: {
  readonly script: URL
  readonly size: number
  readonly provider?: Provider
  readonly batch?: number
  readonly keep?: Keep
  readonly onDeath: (reason: string) => void
}): WorkerPool => {
  const members: Member[] = []
  let queue: ReadonlyArray<Job> = []
  const { provider = 'cpu', batch = 1, keep = KEEP } = options

  /** As far as was measured when a model was loaded. */
  const batches = new Map<string, number>()

  const start = (): Member => {
    const worker = new Worker(options.script, { workerData: { provider } satisfies WorkerSettings })
    const member: Member = { worker, models: new Map(), jobs: new Map() }
    worker.on('message', (message: Outcome | PlacedOutcome) => {
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
    worker.on('error', (error) => options.onDeath(String(error)))
    worker.on('exit', (code) => options.onDeath(`worker thread ended with ${code}`))
    members.push(member)
    // What they are for keeps the process alive, not they themselves.
    worker.unref()
    return member
  }

  const setsOf = (model: string): number => members.filter(({ models }) => models.has(model)).length

  /** Tasks of the model that run or wait. */
  const tasksOf = (model: string): number =>
    [...queue, ...members.flatMap(({ jobs }) => [...jobs.values()])].filter(({ task }) => modelOf(task) === model).length

  const memberFor = (task: Task | Unload): Member | null => {
    const idle = members.filter(({ jobs }) => jobs.size === 0)
    const model = modelOf(task)
    const prepared = model === null ? undefined : idle.find(({ models }) => models.has(model))
    if (prepared !== undefined) return prepared
    if (model !== null && setsOf(model) > 0 && tasksOf(model) <= setsOf(model)) return null
    const [emptiest] = idle.toSorted((one, other) => one.models.size - other.models.size)
    if (emptiest !== undefined && (emptiest.models.size === 0 || members.length === options.size)) return emptiest
    return members.length < options.size ? start() : null
  }

  /** The job and those that wait for the same model behind it, as many as a batch takes. */
  const companyOf = (job: Job): readonly [Job, ...ReadonlyArray<Job>] => {
    const model = modelOf(job.task)
    const most = batches.get(model ?? '') ?? batch
    if (most === 1 || job.task.kind !== 'transcribe') return [job]
    const others = queue.filter((other) => other !== job && other.task.kind === 'transcribe' && modelOf(other.task) === model)
    return [job, ...others.slice(0, most - 1)]
  }

  const give = (member: Member, [first, ...others]: readonly [Job, ...ReadonlyArray<Job>]): void => {
    const company = [first, ...others]
    const model = modelOf(first.task)
    const loads = model !== null && !member.models.has(model)
    company.forEach((one, place) => member.jobs.set(place, one))
    if (model !== null) member.models.set(model, performance.now())
    // Told first: the thread may bring the process down at once.
    for (const { onBegin } of company) onBegin(loads)
    member.worker.postMessage(others.length === 0 ? first.task : company.map(({ task }) => task))
    for (const one of company) if (one.signal?.aborted === true) callOff(one)
  }

  /** One that waits is answered at once; the thread of one that has begun is told. */
  const callOff = (job: Job): void => {
    if (queue.includes(job)) {
      queue = queue.filter((other) => other !== job)
      return job.resolve(E.left({ _tag: 'JobFailed', reason: CALLED_OFF }))
    }
    for (const { worker, jobs } of members) {
      for (const [place, other] of jobs) if (other === job) worker.postMessage({ kind: 'callOff', place } satisfies CallOff)
    }
  }

  const pump = (): void => {
    for (const job of queue) {
      const member = queue.includes(job) ? memberFor(job.task) : null
      if (member === null) continue
      const company = companyOf(job)
      queue = queue.filter((other) => !company.includes(other))
      give(member, company)
    }
  }

  /** A set that was not used for long, of a thread that is idle. */
  const unused = ({ jobs, models }: Member): string | undefined =>
    jobs.size > 0
      ? undefined
      : [...models].find(([model, at]) => performance.now() - at > (setsOf(model) > 1 ? keep.further : keep.only))?.[0]

  const tidy = (): void => {
    for (const member of members) {
      const model = unused(member)
      if (model === undefined) continue
      give(member, [{ task: { kind: 'unload', model }, onBegin: () => undefined, resolve: () => undefined }])
      member.models.delete(model)
    }
  }
  setInterval(tidy, Math.max(1, keep.further / LOOKS_IN_THE_TIME)).unref()

  return {
    run: async (task, onBegin, signal) =>
      new Promise((resolve) => {
        const job: Job = { task, onBegin, resolve, signal }
        signal?.addEventListener('abort', () => callOff(job), { once: true })
        queue = [...queue, job]
        pump()
      }),
  }
}
