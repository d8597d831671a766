import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Timers } from '../../ports/timers.ts'

/** A result of one read. */
interface Page {
  /** A full page never changes. */
  readonly isFull: boolean
}

/** Keeps full pages this long, so many returning listeners cost one read. Short, because text may be erased. */
const KEPT_MS = 2000
/** A page has 200 short lines, so all kept pages take a few megabytes. */
const MAX_KEPT = 64

/**
 * Reads each page once for all concurrent requests, and keeps full pages for a short time. For a page that may still
 * grow, requests that arrive during a read share one further read, because they must see what was appended since.
 */
export const createSharedPages = <L, A extends Page>(timers: Timers) => {
  const reading = new Map<string, Promise<Either<L, A>>>()
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
      .then((got) => {
        if (E.isRight(got) && got.right.isFull) keep(key, page)
      }, () => undefined)
      .finally(() => {
        if (reading.get(key) === page) reading.delete(key)
      })
    return page
  }

  const after = async (
    before: Promise<Either<L, A>>,
    key: string,
    read: () => Promise<Either<L, A>>,
  ): Promise<Either<L, A>> => {
    const got = await before.finally(() => waiting.delete(key))
    return E.isLeft(got) || got.right.isFull ? got : begin(key, read)
  }

  return (key: string, read: () => Promise<Either<L, A>>): Promise<Either<L, A>> => {
    const known = kept.get(key)
    if (known !== undefined) return known
    const running = reading.get(key)
    if (running === undefined) return begin(key, read)
    const next = waiting.get(key) ?? after(running, key, read)
    waiting.set(key, next)
    return next
  }
}
