import { randomBytes, randomUUID } from 'node:crypto'
import { v7 } from 'uuid'
import type { Environment } from '../../application/ports/environment.ts'
import { currentCorrelationId } from './request-context.ts'

/** How far the fine clock may stray from the system's before it is set anew, in milliseconds. */
const MAX_DRIFT_MS = 2
/** A step back of the system's clock larger than this is followed, a smaller one waited out. */
const STEP_MS = 1000

/** Milliseconds since 1970 with microseconds, from the system's clock, which alone has only milliseconds. */
const createClock = (): (() => number) => {
  let offset = 0
  let last = 0
  return () => {
    const system = Date.now()
    const drift = system - (performance.timeOrigin + performance.now() + offset)
    if (Math.abs(drift) > MAX_DRIFT_MS) offset += drift
    const fine = performance.timeOrigin + performance.now() + offset
    last = last - fine > STEP_MS ? fine : Math.max(fine, last)
    return last
  }
}

/** D23's form with six fractional digits. */
const toInstant = (milliseconds: number): string => {
  const microseconds = Math.floor(milliseconds * 1000)
  const seconds = new Date(Math.floor(microseconds / 1_000_000) * 1000).toISOString().slice(0, 19)
  return `${seconds}.${String(microseconds % 1_000_000).padStart(6, '0')}+00:00`
}

/** The process's clock, ids and randomness. */
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
