import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import type { Environment } from '../../../application/ports/environment.ts'

export interface TestEnvironment extends Environment {
  /** Moves the monotonic clock, which otherwise stands still. */
  readonly advance: (milliseconds: number) => void
}

/** Creates real ids and secrets. The wall clock advances by one microsecond at each call. */
export const createTestEnvironment = (): TestEnvironment => {
  let monotonic = 0
  let microseconds = 0
  return {
    now: () => `2026-11-21T09:30:00.${String((microseconds += 1)).padStart(6, '0')}+00:00`,
    monotonic: () => monotonic,
    newId: () => v7(),
    newSecret: () => randomBytes(32).toString('base64url'),
    random: () => 0.5,
    correlationId: () => null,
    instance: v7(),
    advance: (milliseconds) => {
      monotonic += milliseconds
    },
  }
}
