import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ExecutionContext } from 'ava'
import type { RequestInput } from './largest-inputs.ts'

/** The status of an answer, and the longest block of the event loop until it was sent, in ms. */
interface Measured {
  readonly status: number
  readonly block: number
}

// Wall time: some kernels count the processor time of a thread in steps of 4 ms. So the machine must be quiet.
const nowMs = (): number => performance.now()

/**
 * Measures requests to a server in this thread, on a quiet machine. Another thread sends them.
 */
export const startMeasuring = (t: ExecutionContext, url: string) => {
  const worker = new Worker(new URL('./sending-worker.ts', import.meta.url))
  t.teardown(() => worker.terminate())
  return async (input: RequestInput): Promise<Measured> => {
    let [block, last, isOver] = [0, nowMs(), false]
    const turn = (): void => {
      const now = nowMs()
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

/** Returns the time of `work`, in ms. */
export const timeOf = (work: () => unknown): number => {
  const before = nowMs()
  work()
  return nowMs() - before
}
