import { workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Hypothesis, TranscribeJob } from '../../../application/ports/engine.ts'
import { readSpeechModel } from '../families.ts'
import { measureBatch } from '../providers/batch-size.ts'
import { createLoadedModels } from '../loaded-models.ts'
import { GPU_BATCH } from './lanes.ts'
import type { Outcome, Task } from './messages.ts'
import { CALLED_OFF } from '../speech-runner.ts'
import type { SpeechRunner } from '../speech-runner.ts'
import { serveTasks } from './worker-loop.ts'
import type { Together } from './worker-loop.ts'
import type { WorkerSettings } from './worker-pool.ts'

/** A worker thread of the engine process: it has its own set of models, on a GPU each with what joining its passes was measured to be worth. */
const { provider } = workerData as WorkerSettings
const models = createLoadedModels(async (folder) => {
  const model = await readSpeechModel(folder, provider)
  if (E.isLeft(model)) return model
  const runner = await model.right.load()
  return E.right({ ...runner, gpu: provider === 'cpu' ? {} : { onGpu: true, batch: await measureBatch(runner.rehearse, GPU_BATCH) } })
})

/** With what it cost, which on a CPU is the time of this thread: a run has no other. */
const hear = async (runner: SpeechRunner, job: TranscribeJob, signal: AbortSignal): Promise<Hypothesis> => {
  if (signal.aborted) throw new Error(CALLED_OFF)
  const before = process.threadCpuUsage()
  const hypothesis = await runner.transcribe({ ...job, signal })
  const { user, system } = process.threadCpuUsage(before)
  return provider === 'cpu' ? { ...hypothesis, busySeconds: (user + system) / 1e6 } : hypothesis
}

const perform = async (task: Task, signal: AbortSignal): Promise<Outcome> => {
  switch (task.kind) {
    case 'load': {
      const runner = await models.load(task.model, task.folder)
      if (E.isLeft(runner)) return runner
      const { windowSeconds, hasWordTimes, gpu } = runner.right
      return E.right({ windowSeconds, ...(hasWordTimes && { hasWordTimes }), ...gpu })
    }
    case 'transcribe': {
      return models.use(task.job.model, task.folder, (runner) => hear(runner, task.job, signal))
    }
    case 'detect':
    case 'translate':
      throw new Error('this worker only transcribes')
  }
}

/** Jobs of different lives that share a model. What is wrong with it, or with one of them, is found out when each runs alone. */
const together: Together = async (tasks, onOutcome, signals) => {
  const jobs = tasks.flatMap((task) => (task.kind === 'transcribe' ? [task] : []))
  const [first] = jobs
  if (first === undefined || jobs.length < tasks.length) return
  const runner = await models.load(first.job.model, first.folder)
  if (E.isLeft(runner)) return
  const asked = jobs.map(({ job }, index) => ({ ...job, ...(signals[index] && { signal: signals[index] }) }))
  await runner.right.transcribeTogether(asked, (index, hypothesis) => onOutcome(index, E.right(hypothesis)))
}

serveTasks(perform, { together, unload: models.unload })
