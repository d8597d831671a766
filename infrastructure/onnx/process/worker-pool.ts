import { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Provider } from '../providers/execution-provider.ts'
import type { Outcome, PlacedOutcome, Task } from './messages.ts'

/** What a worker thread is told when it starts. */
export interface WorkerSettings {
  readonly provider: Provider
}

export interface WorkerPool {
  /** `onBegin`: a thread is about to take the task on; `loads`: it has yet to load the task's model. */
  readonly run: (task: Task, onBegin: (loads: boolean) => void) => Promise<Outcome>
}

interface Job {
  readonly task: Task
  readonly onBegin: (loads: boolean) => void
  readonly resolve: (outcome: Outcome) => void
}

interface Member {
  readonly worker: Worker
  /** Models that it has loaded. */
  readonly models: Set<string>
  /** What it works on, by the place in the batch that it was given; empty where it is idle. */
  readonly jobs: Map<number, Job>
}

const modelOf = (task: Task): string | null => {
  switch (task.kind) {
    case 'load':
      return task.model
    case 'transcribe':
    case 'translate':
      return task.job.model
    case 'detect':
      return null
  }
}

const isLoadFailure = (outcome: Outcome): boolean => E.isLeft(outcome) && outcome.left._tag === 'ModelLoadFailed'

/**
 * Up to `size` threads, started when needed, with one task at a time each, or up to `batch` transcriptions by one
 * model; tasks begin in the order they came, but for those that join an earlier one's batch. A task goes to an idle
 * thread that has its model already, else to any. `onDeath`: a thread ended, which none should.
 */
export const createWorkerPool = (options: {
  readonly script: URL
  readonly size: number
  readonly provider?: Provider
  readonly batch?: number
  readonly onDeath: (reason: string) => void
}): WorkerPool => {
  const members: Member[] = []
  let queue: ReadonlyArray<Job> = []
  const { provider = 'cpu', batch = 1 } = options

  const start = (): Member => {
    const worker = new Worker(options.script, { workerData: { provider } satisfies WorkerSettings })
    const member: Member = { worker, models: new Set(), jobs: new Map() }
    worker.on('message', (message: Outcome | PlacedOutcome) => {
      const [place, outcome] = '_tag' in message ? [0, message] : message
      const job = member.jobs.get(place)
      member.jobs.delete(place)
      if (job === undefined) return
      const model = modelOf(job.task)
      if (model !== null && !isLoadFailure(outcome)) member.models.add(model)
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

  const memberFor = (task: Task): Member | null => {
    const idle = members.filter(({ jobs }) => jobs.size === 0)
    const model = modelOf(task)
    const prepared = model === null ? undefined : idle.find(({ models }) => models.has(model))
    return prepared ?? idle[0] ?? (members.length < options.size ? start() : null)
  }

  /** The job and those that wait for the same model, as many as a batch takes. */
  const companyOf = (job: Job): ReadonlyArray<Job> => {
    if (batch === 1 || job.task.kind !== 'transcribe') return [job]
    const model = modelOf(job.task)
    return queue.filter(({ task }) => task.kind === 'transcribe' && modelOf(task) === model).slice(0, batch)
  }

  const pump = (): void => {
    for (let job = queue[0]; job !== undefined; job = queue[0]) {
      const member = memberFor(job.task)
      if (member === null) return
      const company = companyOf(job)
      queue = queue.filter((other) => !company.includes(other))
      const model = modelOf(job.task)
      company.forEach((one, place) => member.jobs.set(place, one))
      // Told first: the thread may bring the process down at once.
      for (const { onBegin } of company) onBegin(model !== null && !member.models.has(model))
      member.worker.postMessage(company.length === 1 ? job.task : company.map(({ task }) => task))
    }
  }

  return {
    run: async (task, onBegin) =>
      new Promise((resolve) => {
        queue = [...queue, { task, onBegin, resolve }]
        pump()
      }),
  }
}
