import { once } from 'node:events'
import { threadId } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { serveTasks } from '../../../infrastructure/onnx/process/worker-loop.ts'

/** A worker thread whose transcriptions by `held …` end when the test says so; each answers which thread it is. */
serveTasks(async (task) => {
  if (task.kind === 'transcribe' && task.job.model.startsWith('held')) {
    const told = new BroadcastChannel(task.job.model)
    await once(told, 'message')
    told.close()
  }
  return E.right(String(threadId))
})
