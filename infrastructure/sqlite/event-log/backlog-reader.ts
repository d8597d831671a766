import { Worker } from 'node:worker_threads'
import type { EventWindow, ReadWindow } from './event-window.ts'

export type BacklogRequest = readonly [id: number, ...Parameters<ReadWindow>]
/** Null: the window could not be read. */
export type BacklogAnswer = readonly [id: number, window: EventWindow | null]

/** The thread ends after this time without a request. */
const IDLE_MS = 10_000

export interface BacklogReader {
  /** Reads the same window as `createWindowReader`. Null: the caller must read it itself. Never rejects. */
  readonly read: (...window: Parameters<ReadWindow>) => Promise<EventWindow | null>
  readonly close: () => Promise<void>
}

/**
 * Reads long stretches of a log on a separate thread. The thread verifies hashes while the caller folds the events, so
 * the caller's sockets stay responsive. The thread starts on demand; without it, callers read for themselves.
 */
export const createBacklogReader = (file: string): BacklogReader => {
  const waiting = new Map<number, (window: EventWindow | null) => void>()
  let nextId = 1
  let closed = false
  let running: Worker | undefined
  let idle: NodeJS.Timeout | undefined

  const answer = (id: number, window: EventWindow | null): void => {
    waiting.get(id)?.(window)
    waiting.delete(id)
  }

  const start = (): Worker => {
    const worker = new Worker(new URL('./backlog-worker.ts', import.meta.url), { workerData: { file } })
    worker.on('message', ([id, window]: BacklogAnswer) => answer(id, window))
    // The following exit event answers the waiting requests.
    worker.on('error', () => undefined)
    worker.once('exit', () => {
      if (running === worker) running = undefined
      for (const id of waiting.keys()) answer(id, null)
    })
    worker.unref()
    return worker
  }

  const stop = async (): Promise<void> => {
    const worker = running
    running = undefined
    await worker?.terminate()
  }

  return {
    read: async (...window) => {
      if (closed) return null
      clearTimeout(idle)
      running ??= start()
      // Keeps the process alive during a request, because a tool may have no other open handle.
      running.ref()
      const id = nextId++
      const read = await new Promise<EventWindow | null>((resolve) => {
        waiting.set(id, resolve)
        running?.postMessage([id, ...window] satisfies BacklogRequest)
      })
      clearTimeout(idle)
      if (waiting.size === 0) running?.unref()
      if (waiting.size === 0 && !closed) idle = setTimeout(() => void stop(), IDLE_MS).unref()
      return read
    },
    close: async () => {
      closed = true
      clearTimeout(idle)
      await stop()
    },
  }
}
