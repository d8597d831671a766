import * as E from 'fp-ts/lib/Either.js'
import type { TooManyRequests } from '../../../application/errors.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import { createFailureLimit } from './failure-limit.ts'

type Verdict = E.Either<TooManyRequests, void>

/** Who may ask how often (D57, S25). */
export interface RequestLimits {
  /** Counts one request of `who`: a credential or an address. */
  readonly take: (who: string) => Verdict
  /** Counts one request for a file of a page: a page is dozens of files, and several may open at once. */
  readonly takeFile: (who: string) => Verdict
  /** Counts an API key that nobody has, sent from `address`. */
  readonly wrongKey: (address: string) => Verdict
}

/** D57: 50 a second, 100 at once. */
const BURST_SECONDS = 2
/** Of files of pages: 400 at once, which is nine first visits to the console. */
const FILES_BURST_SECONDS = 8
/** S25. */
const WRONG_KEYS_PER_MINUTE = 30
/** Whoever has not asked for longest is forgotten first; within two seconds all that they used is theirs again anyway. */
const MAX_KNOWN = 20_000

/** Milliseconds below which an excess is rounding. */
const ROUNDING_MS = 1e-6

const FREE: Verdict = E.right(undefined)

/** Nothing is counted. */
export const NO_LIMITS: RequestLimits = { take: () => FREE, takeFile: () => FREE, wrongKey: () => FREE }

/**
 * A bucket for each of whom we know, as the one number of the generic cell rate algorithm (ITU-T I.371, annex A): the time
 * at which the bucket will be full again. A request moves it by 1/`perSecond` s, and never further than the burst from now.
 */
export const createBuckets = (
  monotonic: () => number,
  perSecond: number,
  maxKnown: number,
  burstSeconds = BURST_SECONDS,
) => {
  const fullAt = new Map<string, number>()
  const step = 1000 / perSecond
  return (who: string): Verdict => {
    const now = monotonic()
    const next = Math.max(now, fullAt.get(who) ?? now) + step
    const excess = next - now - burstSeconds * 1000
    const isOver = excess > ROUNDING_MS
    fullAt.delete(who)
    fullAt.set(who, isOver ? next - step : next)
    const [oldest] = fullAt.keys()
    if (fullAt.size > maxKnown && oldest !== undefined) fullAt.delete(oldest)
    return isOver ? E.left({ _tag: 'TooManyRequests', seconds: Math.ceil(excess / 1000) }) : FREE
  }
}

/** `perSecond` 0 switches all of them off. */
export const createRequestLimits = (
  { monotonic }: Pick<Environment, 'monotonic'>,
  perSecond: number,
  maxKnown = MAX_KNOWN,
): RequestLimits => {
  if (perSecond === 0) return NO_LIMITS
  const wrongKeys = createFailureLimit({ monotonic }, WRONG_KEYS_PER_MINUTE)
  return {
    take: createBuckets(monotonic, perSecond, maxKnown),
    takeFile: createBuckets(monotonic, perSecond, maxKnown, FILES_BURST_SECONDS),
    wrongKey: (address) => {
      if (wrongKeys.isReached(address)) return E.left({ _tag: 'TooManyRequests', seconds: 60 })
      wrongKeys.failed(address)
      return FREE
    },
  }
}
