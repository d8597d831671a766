import { Worker } from 'node:worker_threads'
import type { SpeechEngine } from '../application/ports/engine.ts'
import type { Outcome, Task } from '../infrastructure/onnx/process/messages.ts'

interface Waiting {
  readonly task: Task
  readonly resolve: (outcome: Outcome) => void
}

/**
 * Opens an engine like that of a server with one lock: one thread runs one task at a time, first come first served.
 * Speech detection runs before transcription, because it is short.
 */
export const openOneThreadEngine = (folder: string): SpeechEngine => {
  const worker = new Worker(new URL('./one-thread-worker.ts', import.meta.url), { workerData: { folder } })
  const waiting: Array<Waiting> = []
  let running: Waiting | undefined

  const pump = (): void => {
    if (running !== undefined) return
    const first = waiting.findIndex(({ task }) => task.kind === 'detect')
    running = waiting.splice(Math.max(0, first), 1)[0]
    if (running !== undefined) worker.postMessage(running.task)
  }
  worker.on('message', (outcome: Outcome) => {
    running?.resolve(outcome)
    running = undefined
    pump()
  })
  const run = async <A>(task: Task): Promise<A> =>
    (await new Promise<Outcome>((resolve) => {
      waiting.push({ task, resolve })
      pump()
    })) as A
  return {
    deviceOf: () => ({ name: 'cpu', lanes: 1 }),
    passTime: () => null,
    load: (model) => run({ kind: 'load', model, folder }),
    transcribe: (job) => run({ kind: 'transcribe', job, folder }),
    detectSpeech: (samples, state) => run({ kind: 'detect', samples, state }),
    pid: () => process.pid,
    close: async () => void (await worker.terminate()),
  }
}
