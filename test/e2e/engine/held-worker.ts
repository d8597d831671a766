import { once } from 'node:events'
import { threadId } from 'node:worker_threads'
import * as E from 'fp-ts/lib/Either.js'
import { serveTasks } from '../../../infrastructure/onnx/process/worker-loop.ts'

/**
 * A worker thread. Each task returns its thread id. A model `held …` waits for a message on the channel of that name.
 */
serveTasks(async (task) => {
  if (task.kind === 'transcribe' && task.job.model.startsWith('held')) {
    const channel = new BroadcastChannel(task.job.model)
    await once(channel, 'message')
    channel.close()
  }
  return E.right(String(threadId))
})
