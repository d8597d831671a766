import type { Environment } from '../../../../application/ports/environment.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { after } from '../../../support/events/sample-events.ts'

const HOUR = 3_600_000
const YEAR = 8766 * HOUR

/**
 * What happens to the clock of a machine: by how much it is wrong, and whether somebody sets it right later. While a
 * machine sleeps, the wall clock goes on and the monotonic clock stands still.
 */
export const FAULTS = [
  { fault: 'the clock is a year ahead and set right later', wrongBy: YEAR, isSetRight: true },
  { fault: 'the clock is an hour behind', wrongBy: -HOUR, isSetRight: false },
  { fault: 'the machine sleeps for 8 hours', wrongBy: 8 * HOUR, isSetRight: false },
] as const

/** The clocks of a machine and of a store. `advance` moves all of them, `set` only the wall clock. */
export const faultyClock = () => {
  const timers = createManualTimers()
  const { monotonic, advance } = timers
  let wrongBy = 0
  const environment: Environment = { ...createTestEnvironment(), now: () => after(monotonic() + wrongBy), monotonic }
  return {
    timers, environment, advance,
    storeNow: () => Date.parse(after(monotonic())),
    set: (ms: number): void => { wrongBy = ms },
  }
}

export type FaultyClock = ReturnType<typeof faultyClock>
