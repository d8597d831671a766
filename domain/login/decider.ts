import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { LoginFailuresEvent, UnknownLoginFailed } from './events.ts'

export interface LoginFailures {
  /** Failures after the last success. */
  readonly failures: number
  /** Time of the newest event. Null before the first event. */
  readonly at: string | null
  /** Time of the last recorded success. Null before the first success. */
  readonly succeededAt: string | null
}

export interface LoginOutcome {
  /** `Clear` only resets the failures. `Succeed` also records the success, at most once a day. */
  readonly type: 'Fail' | 'Clear' | 'Succeed'
  readonly at: string
}

const DAY_MS = 24 * 3_600_000

const elapsed = (from: string, now: string): number => Date.parse(now) - Date.parse(from)

/** Number of failures with another one at `now`. Failures older than a day do not count. */
const withAnother = ({ failures, at }: LoginFailures, now: string): number =>
  (at === null || elapsed(at, now) < DAY_MS ? failures : 0) + 1

/** True if this time is at least a day ago, or lies ahead because a clock was wrong. */
const isOutdated = (at: string, now: string): boolean => elapsed(at, now) >= DAY_MS || elapsed(at, now) < 0

/** Counts failed logins. A success, or a day without a failure, resets the count. */
export const loginFailuresDecider: Decider<LoginFailures, LoginOutcome, LoginFailuresEvent, never> = {
  initialState: { failures: 0, at: null, succeededAt: null },
  evolve: (state, { type, data }) =>
    type === 'LoginFailed'
      ? { failures: data.failures, at: data.at, succeededAt: data.succeededAt ?? state.succeededAt }
      : { failures: 0, at: data.at, succeededAt: data.at },
  decide: ({ type, at }, state) => {
    const { failures, succeededAt } = state
    if (type === 'Fail') {
      const data = { failures: withAnother(state, at), at, ...(succeededAt !== null && { succeededAt }) }
      return E.right([{ type: 'LoginFailed', data }])
    }
    const isWorthRecording = type === 'Succeed' && (succeededAt === null || isOutdated(succeededAt, at))
    return E.right(failures > 0 || isWorthRecording ? [{ type: 'LoginFailuresCleared', data: { at } }] : [])
  },
}

/** Returns the newer of two counts. If both have the same time, the first. */
export const newerCount = (first: LoginFailures, second: LoginFailures): LoginFailures =>
  (second.at ?? '') > (first.at ?? '') ? second : first

interface SharedFailure {
  readonly hash: string
  /** The count of this hash as it is known from elsewhere. */
  readonly before: LoginFailures
  readonly at: string
}

type SharedFailures = ReadonlyMap<string, LoginFailures>

/** Counts the failed logins of each hash in a shared stream. */
export const sharedFailuresDecider: Decider<SharedFailures, SharedFailure, UnknownLoginFailed, never> = {
  initialState: new Map(),
  evolve: (counts, { data: { hash, failures, at } }) => new Map(counts).set(hash, { failures, at, succeededAt: null }),
  decide: ({ hash, before, at }, counts) => {
    const failures = withAnother(newerCount(before, counts.get(hash) ?? before), at)
    return E.right([{ type: 'UnknownLoginFailed', data: { hash, failures, at } }])
  },
}

/** Number of failures that causes the first wait: for one name from one network, and for one name from all networks. */
const FIRST_WAIT_OF_NETWORK = 5
const FIRST_WAIT_OF_NAME = 20
const MAX_WAIT_MS = 15 * 60_000
const TRUSTED_MS = 30 * DAY_MS

/** A count with ages in milliseconds. Infinity: there is no such event. */
export interface AgedFailures extends Pick<LoginFailures, 'failures'> {
  /** Of the newest event. */
  readonly age: number
  /** Of the last success. */
  readonly successAge: number
}

const waitMs = (firstWait: number, { failures, age }: AgedFailures): number =>
  failures < firstWait ? 0 : Math.max(0, Math.min(MAX_WAIT_MS, 1000 * 2 ** (failures - firstWait)) - age)

/**
 * Returns the milliseconds until a network may try a name again. The fifth failure causes a wait of 1 s. Each further
 * failure doubles the wait, up to 15 minutes.
 */
export const networkWaitMs = (ofNetwork: AgedFailures): number => waitMs(FIRST_WAIT_OF_NETWORK, ofNetwork)

/**
 * Returns the milliseconds until networks that are not trusted may try a name again. The wait begins with the twentieth
 * failure from all networks together.
 */
export const nameWaitMs = (ofName: AgedFailures): number => waitMs(FIRST_WAIT_OF_NAME, ofName)

/** True when a login from this network succeeded within the last thirty days. */
export const isTrusted = ({ successAge }: AgedFailures): boolean => successAge < TRUSTED_MS

/** True when no login from this network failed within the last 15 minutes. */
export const hasNoRecentFailure = ({ failures, age }: AgedFailures): boolean => failures === 0 || age >= MAX_WAIT_MS
