import { Worker } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Outcome, Task } from './messages.ts'

export interface WorkerPool {
  /** `onBegin`: a thread takes the task on; `loads`: it has yet to load the task's model. */
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
  job: Job | null
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
 * Up to `size` threads, started when needed, with one task at a time each; tasks begin in the order they came. A task
 * goes to an idle thread that has its model already, else to any. `onDeath`: a thread ended, which none should.
 */
export const createWorkerPool = (options: {
  readonly script: URL
  readonly size: number
  readonly onDeath: (reason: string) => void
}): WorkerPool => {
  const members: Member[] = []
  const queue: Job[] = []

  const start = (): Member => {
    const worker = new Worker(options.script)
    const member: Member = { worker, models: new Set(), job: null }
    worker.on('message', (outcome: Outcome) => {
      const { job } = member
      member.job = null
      if (job === null) return
      const model = modelOf(job.task)
      if (model !== null && !isLoadFailure(outcome)) member.models.add(model)
      job.resolve(outcome)
      pump()
    })
    worker.on('error', (error) => options.onDeath(String(error)))
    worker.on('exit', (code) => options.onDeath(`worker thread ended with ${code}`))
    members.push(member)
    return member
  }

  const memberFor = (task: Task): Member | null => {
    const idle = members.filter(({ job }) => job === null)
    const model = modelOf(task)
    const prepared = model === null ? undefined : idle.find(({ models }) => models.has(model))
    return prepared ?? idle[0] ?? (members.length < options.size ? start() : null)
  }

  const pump = (): void => {
    for (let job = queue[0]; job !== undefined; job = queue[0]) {
      const member = memberFor(job.task)
      if (member === null) return
      queue.shift()
      const model = modelOf(job.task)
      member.job = job
      member.worker.postMessage(job.task)
      job.onBegin(model !== null && !member.models.has(model))
    }
  }

  return {
    run: async (task, onBegin) =>
      new Promise((resolve) => {
        queue.push({ task, onBegin, resolve })
        pump()
      }),
  }
}
