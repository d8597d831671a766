import type { Environment } from '../../ports/environment.ts'

interface WatchDeps {
  readonly environment: Pick<Environment, 'monotonic'>
}

/** Measures, with the clock of this process, how long a condition of a session has held. */
export interface Watch {
  /** Returns the milliseconds since the first call for the session. Call it at each check where the condition holds. */
  readonly since: (liveId: number) => number
  readonly keepOnly: (isKept: (liveId: number) => boolean) => void
  readonly isWatching: () => boolean
}

export const createWatch = ({ environment: { monotonic } }: WatchDeps): Watch => {
  const first = new Map<number, number>()
  return {
    since: (liveId) => {
      const seen = first.get(liveId) ?? monotonic()
      first.set(liveId, seen)
      return monotonic() - seen
    },
    keepOnly: (isKept) => {
      for (const liveId of first.keys()) if (!isKept(liveId)) first.delete(liveId)
    },
    isWatching: () => first.size > 0,
  }
}
