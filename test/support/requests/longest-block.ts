import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ExecutionContext } from 'ava'
import type { RequestInput } from './largest-inputs.ts'

/** The status of an answer, and the longest block of the event loop until it was sent, in ms of processor time. */
interface Measured {
  readonly status: number
  readonly block: number
}

const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/**
 * Measures requests to a server in this thread. Another thread sends them. The processor time of this thread does not
 * depend on other programs.
 */
export const startMeasuring = (t: ExecutionContext, url: string) => {
  const worker = new Worker(new URL('./sending-worker.ts', import.meta.url))
  t.teardown(() => worker.terminate())
  return async (input: RequestInput): Promise<Measured> => {
    let [block, last, isOver] = [0, processorMs(), false]
    const turn = (): void => {
      const now = processorMs()
      block = Math.max(block, now - last)
      last = now
      if (!isOver) setImmediate(turn)
    }
    worker.postMessage({ url, input })
    setImmediate(turn)
    const [status] = (await once(worker, 'message')) as [number]
    isOver = true
    turn()
    return { status, block }
  }
}

/** Returns the processor time of `work`, in ms. */
export const timeOf = (work: () => unknown): number => {
  const before = processorMs()
  work()
  return processorMs() - before
}
