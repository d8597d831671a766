import type { Environment } from './ports/environment.ts'

/** Counts what each user writes within a day, in units. One process counts for itself. */
export interface DailyBudget {
  /** Returns the seconds until the user may write again. 0: now. */
  readonly waitSeconds: (userId: number) => number
  readonly charge: (userId: number, units: number) => void
}

interface RequestCost {
  readonly bytes?: number
  readonly rows?: number
}

const BYTES_PER_UNIT = 8 * 1024
const ROWS_PER_UNIT = 100

/** Returns what a body (in bytes) and the rows of an answer cost, in units. A request costs one unit more. */
export const unitsOf = ({ bytes = 0, rows = 0 }: RequestCost): number => bytes / BYTES_PER_UNIT + rows / ROWS_PER_UNIT

const DAY_MS = 24 * 3_600_000
/** Above this number, users whose day is over are forgotten. */
const MAX_USERS = 20_000

/** Allows everything. */
export const NO_BUDGET: DailyBudget = { waitSeconds: () => 0, charge: () => undefined }

interface Day {
  /** Monotonic time. */
  readonly endsAt: number
  used: number
}

/**
 * Creates a budget of `units` a day. The day of a user begins with the first write and lasts 24 hours. 0: no limit. A
 * write that begins within the budget is completed, so its last units may exceed it.
 */
export const createDailyBudget = ({ monotonic }: Pick<Environment, 'monotonic'>, units: number): DailyBudget => {
  if (units === 0) return NO_BUDGET
  const days = new Map<number, Day>()
  const dayOf = (userId: number): Day | undefined => {
    const day = days.get(userId)
    if (day === undefined || day.endsAt > monotonic()) return day
    days.delete(userId)
    return undefined
  }
  const begin = (userId: number): Day => {
    if (days.size >= MAX_USERS) for (const other of days.keys()) dayOf(other)
    const day = { endsAt: monotonic() + DAY_MS, used: 0 }
    days.set(userId, day)
    return day
  }
  return {
    waitSeconds: (userId) => {
      const day = dayOf(userId)
      return day === undefined || day.used < units ? 0 : Math.ceil((day.endsAt - monotonic()) / 1000)
    },
    charge: (userId, spent) => {
      const day = dayOf(userId) ?? begin(userId)
      day.used += spent
    },
  }
}
