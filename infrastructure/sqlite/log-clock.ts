import type { DatabaseSync } from 'node:sqlite'

/** What the times of a monotonic clock must be raised by. Both threads of a log read it. */
export type SharedClock = Float64Array

const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6

/** `performance.now()` is faster than the shared clock, but begins anew in each thread. */
const THREAD_START = sharedNow() - performance.now()

/** Milliseconds of a clock that all threads of this process share, and that nobody can set. */
const monotonic = (): number => THREAD_START + performance.now()

const newestAt = (database: DatabaseSync): number => {
  const newest = database.prepare('SELECT at FROM events ORDER BY pos DESC LIMIT 1').get()
  return (newest as { readonly at: number } | undefined)?.at ?? 0
}

const offsetOf = (database: DatabaseSync): number => Math.max(Date.now(), newestAt(database)) - monotonic()

const timeWith = (offset: number): number => Math.floor(monotonic() + offset)

/**
 * Creates the clock of a log, in milliseconds since 1970. It starts at the time of this machine, or at the newest event
 * if that lies ahead, so the past is never in the future. Then it counts evenly, although the machine's clock may be
 * set: no event of the log gets older or younger by that.
 */
export const createLogClock = (database: DatabaseSync): (() => number) => {
  const offset = offsetOf(database)
  return () => timeWith(offset)
}

/** A clock for two threads. The writer starts it. */
export const newSharedClock = (): SharedClock => new Float64Array(new SharedArrayBuffer(8))

export const timeOf = (clock: SharedClock): number => timeWith(clock[0] ?? 0)

/** Starts the clock, unless an earlier writer of this process has done so. */
export const startSharedClock = (clock: SharedClock, database: DatabaseSync): (() => number) => {
  if (clock[0] === 0) clock[0] = offsetOf(database)
  return () => timeOf(clock)
}
