import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { LoginFailuresEvent } from './events.ts'

export interface LoginFailures {
  /** Since the last success. */
  readonly failures: number
  /** Of the last change; null when there never was one. */
  readonly at: string | null
  /** Of the last success that was written down; null when there never was one. */
  readonly succeededAt: string | null
}

export interface LoginOutcome {
  /** `Clear` only forgets failures; `Succeed` also writes down, once a day, that there was a success. */
  readonly type: 'Fail' | 'Clear' | 'Succeed'
  readonly at: string
}

const DAY_MS = 24 * 3_600_000

const elapsed = (from: string, now: string): number => Date.parse(now) - Date.parse(from)

/** Counts failures; a success, or a day without one, counts from anew. */
export const loginFailuresDecider: Decider<LoginFailures, LoginOutcome, LoginFailuresEvent, never> = {
  initialState: { failures: 0, at: null, succeededAt: null },
  evolve: (state, { type, data }) =>
    type === 'LoginFailed'
      ? { failures: data.failures, at: data.at, succeededAt: data.succeededAt ?? state.succeededAt }
      : { failures: 0, at: data.at, succeededAt: data.at },
  decide: ({ type, at }, { failures, at: before, succeededAt }) => {
    if (type === 'Fail') {
      const recent = before === null || elapsed(before, at) < DAY_MS ? failures : 0
      const data = { failures: recent + 1, at, ...(succeededAt !== null && { succeededAt }) }
      return E.right([{ type: 'LoginFailed', data }])
    }
    const isNews = type === 'Succeed' && (succeededAt === null || elapsed(succeededAt, at) >= DAY_MS)
    return E.right(failures > 0 || isNews ? [{ type: 'LoginFailuresCleared', data: { at } }] : [])
  },
}

/** Failures of a name from one network, and from everywhere, before it has to wait. */
const FREE_FAILURES = 5
const FREE_FROM_EVERYWHERE = 20
const LONGEST_MS = 15 * 60_000
const TRUSTED_MS = 30 * DAY_MS

const waitFrom = (free: number, { failures, at }: LoginFailures, now: string): number => {
  if (failures < free || at === null) return 0
  const delay = Math.min(LONGEST_MS, 1000 * 2 ** (failures - free))
  return elapsed(at, now) < 0 ? 0 : Math.max(0, delay - elapsed(at, now))
}

/**
 * Milliseconds until a network may try a name again. The fifth failure costs 1 s and each further one twice as much, 15
 * minutes at most, so that nobody is ever shut out for good. A clock that was set back ends the wait.
 */
export const waitAfter = (ofNetwork: LoginFailures, now: string): number => waitFrom(FREE_FAILURES, ofNetwork, now)

/** The same for the name as a whole, from the twentieth failure on, for those whom nothing speaks for. */
export const waitOfAll = (fromEverywhere: LoginFailures, now: string): number =>
  waitFrom(FREE_FROM_EVERYWHERE, fromEverywhere, now)

/** Somebody logged in from this network within the last thirty days. */
export const isTrusted = ({ succeededAt }: LoginFailures, now: string): boolean =>
  succeededAt !== null && elapsed(succeededAt, now) < TRUSTED_MS

/** Nobody failed from this network within the last quarter of an hour. */
export const isFresh = ({ failures, at }: LoginFailures, now: string): boolean =>
  failures === 0 || at === null || elapsed(at, now) >= LONGEST_MS
