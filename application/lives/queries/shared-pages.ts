import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Timers } from '../../ports/timers.ts'

interface Page {
  /** A full page never changes. */
  readonly isFull: boolean
}

/**
 * Full pages are kept for this time, so many listeners that return at once cost one read. The time is short, because
 * the text may be erased.
 */
const KEPT_MS = 2000
/** A page has 200 short lines, so all kept pages take a few megabytes. */
const MAX_KEPT = 64

/**
 * Reads each page once for all concurrent requests, and keeps full pages for a short time. A request that arrives
 * during a read waits for it. If that page is full, the request gets it. Otherwise the page may lack the newest events,
 * and all waiting requests share one further read.
 */
export const createSharedPages = <L, A extends Page>(timers: Timers) => {
  const reading = new Map<string, Promise<Either<L, A>>>()
  /** Reads that begin when the running read of the page ends. */
  const waiting = new Map<string, Promise<Either<L, A>>>()
  const kept = new Map<string, Promise<Either<L, A>>>()

  const keep = (key: string, page: Promise<Either<L, A>>): void => {
    if (kept.size >= MAX_KEPT) return
    kept.set(key, page)
    timers.after(KEPT_MS, () => kept.delete(key))
  }

  const begin = (key: string, read: () => Promise<Either<L, A>>): Promise<Either<L, A>> => {
    const page = read()
    reading.set(key, page)
    void page
      .then((result) => {
        if (E.isRight(result) && result.right.isFull) keep(key, page)
      }, () => undefined)
      .finally(() => {
        if (reading.get(key) === page) reading.delete(key)
      })
    return page
  }

  const readAfter = async (
    running: Promise<Either<L, A>>,
    key: string,
    read: () => Promise<Either<L, A>>,
  ): Promise<Either<L, A>> => {
    const result = await running.finally(() => waiting.delete(key))
    return E.isLeft(result) || result.right.isFull ? result : begin(key, read)
  }

  return (key: string, read: () => Promise<Either<L, A>>): Promise<Either<L, A>> => {
    const keptPage = kept.get(key)
    if (keptPage !== undefined) return keptPage
    const running = reading.get(key)
    if (running === undefined) return begin(key, read)
    const next = waiting.get(key) ?? readAfter(running, key, read)
    waiting.set(key, next)
    return next
  }
}
