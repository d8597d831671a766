import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { LoginFailuresEvent } from './events.ts'

export interface LoginFailures {
  /** Since the last success. */
  readonly failures: number
  /** Of the last change; null when there never was one. */
  readonly at: string | null
}

export interface LoginOutcome {
  readonly type: 'Fail' | 'Clear'
  readonly at: string
}

/** Counts failures only; a success counts from anew. */
export const loginFailuresDecider: Decider<LoginFailures, LoginOutcome, LoginFailuresEvent, never> = {
  initialState: { failures: 0, at: null },
  evolve: (_, { type, data }) => ({ failures: type === 'LoginFailed' ? data.failures : 0, at: data.at }),
  decide: ({ type, at }, { failures }) => {
    if (type === 'Fail') return E.right([{ type: 'LoginFailed', data: { failures: failures + 1, at } }])
    return E.right(failures === 0 ? [] : [{ type: 'LoginFailuresCleared', data: { at } }])
  },
}

const FREE_FAILURES = 5
const LONGEST_MS = 15 * 60_000

/**
 * S24: milliseconds until the next attempt. The fifth failure costs 1 s and each further one twice as much, 15 minutes at
 * most, so that nobody is ever shut out for good. A clock that was set back ends the wait.
 */
export const waitAfter = ({ failures, at }: LoginFailures, now: string): number => {
  if (failures < FREE_FAILURES || at === null) return 0
  const delay = Math.min(LONGEST_MS, 1000 * 2 ** (failures - FREE_FAILURES))
  const elapsed = Date.parse(now) - Date.parse(at)
  return elapsed < 0 ? 0 : Math.max(0, delay - elapsed)
}
