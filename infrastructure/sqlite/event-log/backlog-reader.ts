import { Worker } from 'node:worker_threads'
import type { EventWindow, ReadWindow } from './event-window.ts'

export type BacklogRequest = readonly [id: number, ...Parameters<ReadWindow>]
/** Null: it could not be read. */
export type BacklogAnswer = readonly [id: number, window: EventWindow | null]

/** How long a thread waits for another backlog before it ends. */
const IDLE_MS = 10_000

export interface BacklogReader {
  /** The same window as `createWindowReader` would read; null where it must be read without this. Never rejects. */
  readonly read: (...window: Parameters<ReadWindow>) => Promise<EventWindow | null>
  readonly close: () => Promise<void>
}

/**
 * Reads long stretches of a log on a thread of their own, which hashes and compares while the caller folds, and lets its
 * sockets have their turn. It starts when it is asked for and ends when it is no longer; nothing depends on it.
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
    // The exit that follows tells those who wait.
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
    read: async (after, upTo, prefixes) => {
      if (closed) return null
      clearTimeout(idle)
      running ??= start()
      // While somebody waits it keeps the process alive: a tool may have nothing else that does.
      running.ref()
      const id = nextId++
      const read = await new Promise<EventWindow | null>((resolve) => {
        waiting.set(id, resolve)
        running?.postMessage([id, after, upTo, prefixes] satisfies BacklogRequest)
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
