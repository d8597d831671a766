import { workerData } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import type { Hypothesis, TranscribeJob } from '../../../application/ports/engine.ts'
import { readSpeechModel } from '../families.ts'
import { measureBatch } from '../providers/batch-size.ts'
import { createLoadedModels } from '../loaded-models.ts'
import { GPU_BATCH } from './lanes.ts'
import type { Outcome, Task } from './messages.ts'
import { CANCELLED, type SpeechRunner } from '../speech-runner.ts'
import { serveTasks, type Together } from './worker-loop.ts'
import type { ThreadSettings } from './thread-pool.ts'

/** A worker thread of the engine process, with its own copies of models. On a GPU it measures batches at each load. */
const { provider } = workerData as ThreadSettings
const models = createLoadedModels(async (folder) => {
  const model = await readSpeechModel(folder, provider)
  if (E.isLeft(model)) return model
  const runner = await model.right.load()
  const gpu = provider === 'cpu' ? {} : { onGpu: true, batch: await measureBatch(runner.rehearse, GPU_BATCH) }
  return E.right({ ...runner, gpu })
})

/** Adds the processor time to the text. On the CPU it is the time of this thread: a run uses no other thread. */
const transcribeTimed = async (runner: SpeechRunner, job: TranscribeJob, signal: AbortSignal): Promise<Hypothesis> => {
  if (signal.aborted) throw new Error(CANCELLED)
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
      return models.use(task.job.model, task.folder, (runner) => transcribeTimed(runner, task.job, signal))
    }
    case 'detect':
    case 'translate':
      throw new Error('this worker only transcribes')
  }
}

/** Runs jobs of several sessions with one model. On an error, the caller runs each job separately. */
const together: Together = async (tasks, onOutcome, signals) => {
  const jobs = tasks.flatMap((task) => (task.kind === 'transcribe' ? [task] : []))
  const [first] = jobs
  if (first === undefined || jobs.length < tasks.length) return
  const runner = await models.load(first.job.model, first.folder)
  if (E.isLeft(runner)) return
  const requests = jobs.map(({ job }, index) => ({ ...job, ...(signals[index] && { signal: signals[index] }) }))
  await runner.right.transcribeTogether(requests, (index, hypothesis) => onOutcome(index, E.right(hypothesis)))
}

serveTasks(perform, { together, unload: models.unload })
