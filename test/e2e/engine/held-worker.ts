import { once } from 'node:events'
import { threadId } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { serveTasks } from '../../../infrastructure/onnx/process/worker-loop.ts'

/**
 * A worker thread that returns its thread id for each task. A task of a model named `held …` first waits for a message
 * on the broadcast channel with the name of the model.
 */
serveTasks(async (task) => {
  if (task.kind === 'transcribe' && task.job.model.startsWith('held')) {
    const channel = new BroadcastChannel(task.job.model)
    await once(channel, 'message')
    channel.close()
  }
  return E.right(String(threadId))
})
