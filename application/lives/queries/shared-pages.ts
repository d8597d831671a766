import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Timers } from '../../ports/timers.ts'

/** Something that is read in one go. */
interface Page {
  /** Nothing will be added to it. */
  readonly isFull: boolean
}

/** A crowd that comes back costs one read of a full page in so many ms; erased text stays in memory no longer. */
const KEPT_MS = 2000
/** Of 200 short lines each: some megabytes. */
const MOST_KEPT = 64

/**
 * Reads each page once for all who ask for it while it is read, and for a short while after that if it is full. A page
 * that may grow is read anew for who asks later, and once for all who asked while it was read: they are owed what came
 * since that began.
 */
export const createSharedPages = <L, A extends Page>(timers: Timers) => {
  const reading = new Map<string, Promise<Either<L, A>>>()
  const waiting = new Map<string, Promise<Either<L, A>>>()
  const kept = new Map<string, Promise<Either<L, A>>>()

  const keep = (key: string, page: Promise<Either<L, A>>): void => {
    if (kept.size >= MOST_KEPT) return
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
