import * as E from 'fp-ts/lib/Either.js'
import { unitsOf } from '../../../application/budget.ts'
import type { Caller } from '../../../application/caller.ts'
import type { TooManyRequests } from '../../../application/refusals.ts'
import { createLruCache } from '../../../application/lru-cache.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import { createFailureLimit } from './failure-limit.ts'

type Verdict = E.Either<TooManyRequests, void>

/** Rate limits of REST. A client is a credential or an address. A user may have many credentials. */
export interface RequestLimits {
  readonly take: (client: string) => Verdict
  /** Counts one request for a file of a page. A page has dozens of files, so this limit is higher. */
  readonly takeFile: (client: string) => Verdict
  /** Counts one request of a user, with any credential. */
  readonly takeOfUser: (userId: number) => Verdict
  /** Checks the limit of a user (null: nobody) without counting, for a request that had to wait. */
  readonly checkUser: (user: Pick<Caller, 'userId'> | null) => Verdict
  /** Counts the body (in bytes) and the rows of a request of a user (null: nobody). They are known only afterwards. */
  readonly chargeUser: (user: Pick<Caller, 'userId'> | null, cost: Parameters<typeof unitsOf>[0]) => void
  /** Counts one unknown API token from `address`. */
  readonly countWrongKey: (address: string) => Verdict
}

/** Length of a burst: with 50 requests per second, a client may send 100 at once. */
const BURST_SECONDS = 2
/** With 50 requests per second, a client may load 400 files of pages at once: nine first visits to the console. */
const FILES_BURST_SECONDS = 8
/**
 * All credentials of a user together have ten times the limit of one credential, in units: a request costs one unit,
 * and more with a large body or many rows in its answer.
 */
const USER_FACTOR = 10
const WRONG_KEYS_PER_MINUTE = 30
/** The least recently seen client is forgotten first. Its burst is available again after seconds anyway. */
const MAX_CLIENTS = 20_000

/** A smaller excess is a rounding error. */
const ROUNDING_MS = 1e-6

const ALLOWED: Verdict = E.right(undefined)

/** Allows everything. */
export const NO_LIMITS: RequestLimits =
  {
    take: () => ALLOWED, takeFile: () => ALLOWED, takeOfUser: () => ALLOWED, checkUser: () => ALLOWED,
    chargeUser: () => undefined, countWrongKey: () => ALLOWED,
  }

/**
 * Creates one token bucket for each client, with the generic cell rate algorithm (ITU-T I.371, annex A). It stores one
 * number: the time when the bucket is full again. A request moves that time by 1/`perSecond` seconds. It is refused if
 * the time would be more than `burstSeconds` ahead.
 */
export const createBuckets = (
  monotonic: () => number,
  perSecond: number,
  maxClients: number,
  burstSeconds = BURST_SECONDS,
) => {
  const fullAt = createLruCache<string, number>(maxClients)
  const step = 1000 / perSecond
  /** Returns the verdict about a client whose bucket will be full at `time`. */
  const verdictAt = (time: number): Verdict => {
    const excess = time - monotonic() - burstSeconds * 1000
    return excess > ROUNDING_MS ? E.left({ _tag: 'TooManyRequests', seconds: Math.ceil(excess / 1000) }) : ALLOWED
  }
  return {
    take: (client: string): Verdict => {
      const now = monotonic()
      const before = Math.max(now, fullAt.get(client) ?? now)
      const verdict = verdictAt(before + step)
      fullAt.set(client, E.isLeft(verdict) ? before : before + step)
      return verdict
    },
    check: (client: string): Verdict => verdictAt(fullAt.get(client) ?? 0),
    /** Counts what a request has cost beyond 1. It is not refused any more, but the next one may be. */
    charge: (client: string, units: number): void =>
      fullAt.set(client, Math.max(monotonic(), fullAt.get(client) ?? 0) + units * step),
  }
}

/** Creates the rate limits of REST. `perSecond` 0 switches them off. */
export const createRequestLimits = (
  { monotonic }: Pick<Environment, 'monotonic'>,
  perSecond: number,
  maxClients = MAX_CLIENTS,
): RequestLimits => {
  if (perSecond === 0) return NO_LIMITS
  const wrongKeys = createFailureLimit({ monotonic }, WRONG_KEYS_PER_MINUTE)
  const users = createBuckets(monotonic, perSecond * USER_FACTOR, maxClients)
  return {
    take: createBuckets(monotonic, perSecond, maxClients).take,
    takeFile: createBuckets(monotonic, perSecond, maxClients, FILES_BURST_SECONDS).take,
    takeOfUser: (userId) => users.take(String(userId)),
    checkUser: (user) => (user === null ? ALLOWED : users.check(String(user.userId))),
    chargeUser: (user, cost) => {
      if (user !== null) users.charge(String(user.userId), unitsOf(cost))
    },
    countWrongKey: (address) => {
      if (wrongKeys.isReached(address)) return E.left({ _tag: 'TooManyRequests', seconds: 60 })
      wrongKeys.countFailure(address)
      return ALLOWED
    },
  }
}
