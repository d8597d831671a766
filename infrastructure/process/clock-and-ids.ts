import { randomBytes, randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import type { Environment } from '../../application/ports/environment.ts'
import { currentCorrelationId } from '../observability/request-context.ts'

/** Largest accepted difference between our clock and the system clock. */
const MAX_DRIFT_MS = 2
/** If the system clock steps back by more than this, our clock follows. After a smaller step our clock stands still. */
const MAX_IGNORED_STEP_MS = 1000

/** Milliseconds since 1970 with microsecond resolution. The system clock has only milliseconds. */
const createClock = (): (() => number) => {
  let offset = 0
  let last = 0
  return () => {
    const system = Date.now()
    const drift = system - (performance.timeOrigin + performance.now() + offset)
    if (Math.abs(drift) > MAX_DRIFT_MS) offset += drift
    const fine = performance.timeOrigin + performance.now() + offset
    last = last - fine > MAX_IGNORED_STEP_MS ? fine : Math.max(fine, last)
    return last
  }
}

/** Formats an instant as ISO 8601 in UTC with six fractional digits and the offset `+00:00`. */
const toInstant = (milliseconds: number): string => {
  const microseconds = Math.floor(milliseconds * 1000)
  const seconds = new Date(Math.floor(microseconds / 1_000_000) * 1000).toISOString().slice(0, 19)
  return `${seconds}.${String(microseconds % 1_000_000).padStart(6, '0')}+00:00`
}

/** Creates the clock, the ids and the randomness of this process. */
export const createEnvironment = (): Environment => {
  const clock = createClock()
  return {
    now: () => toInstant(clock()),
    monotonic: () => performance.now(),
    newId: () => v7(),
    newSecret: () => randomBytes(32).toString('base64url'),
    random: () => Math.random(),
    correlationId: currentCorrelationId,
    instance: randomUUID(),
  }
}
