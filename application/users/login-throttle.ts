import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import {
  type AgedFailures, hasNoRecentFailure, isTrusted, type LoginFailures, nameWaitMs, networkWaitMs,
} from '../../domain/login/decider.ts'
import { createAges } from '../ages.ts'
import type { TooManyRequests, Unavailable } from '../refusals.ts'
import type { Credentials, TooBusy } from '../ports/credentials.ts'
import { createTurns } from '../turns.ts'
import { createFailureCounts, type FailureCountDeps } from './failure-counts.ts'
import { createRecentFailures } from './recent-failures.ts'

export interface LoginThrottleDeps extends FailureCountDeps {
  readonly credentials: Pick<Credentials, 'keyedHash'>
  /** False when RATE_LIMIT is 0. Then nothing is counted or refused. */
  readonly enabled: boolean
}

/** The name under which failed attempts are counted. */
export interface ThrottledName {
  readonly hash: string
  /** Whether a user has this name. */
  readonly isKnown: boolean
}

/**
 * Runs `attempt`, which checks a password. None: the password is wrong. Left `TooManyRequests`: the name or the address
 * must wait.
 */
export type LoginThrottle = <A>(
  name: ThrottledName,
  address: string,
  attempt: () => Promise<Either<TooBusy | Unavailable, Option<A>>>,
) => Promise<Either<TooManyRequests | TooBusy | Unavailable, Option<A>>>

/** `generation`: that of the user, or null for an unknown name. A changed password starts a new count. */
export const throttledName = (usernameHash: string, generation: number | null): ThrottledName => {
  const hash = generation === null || generation === 0 ? usernameHash : `${usernameHash}-${generation}`
  return { hash, isKnown: generation !== null }
}

/** Maximum number of attempts that run or wait: as many as passwords may wait to be hashed. */
const MAX_ATTEMPTS = 100
/**
 * A network is untrusted for a name without a recent login. After `most` failures from untrusted networks within
 * `windowMs`, the wait of the name also applies to networks without recent failures.
 */
const UNTRUSTED_LIMIT = { most: 100, windowMs: 15 * 60_000 }

const tooMany = (milliseconds: number): Either<TooManyRequests, never> =>
  E.left({ _tag: 'TooManyRequests', seconds: Math.max(1, Math.ceil(milliseconds / 1000)) })

/** Attempts are counted for each name, for each name and network together (`place`), and for each address. */
interface Attempt {
  readonly name: ThrottledName
  readonly place: string
  readonly address: string
}

/** Returns the network of an address: its /48 for IPv6, because one customer often owns a whole /48. */
const networkOf = (address: string): string => address.replace(/^((?:[0-9a-f]+:){3})[0-9a-f]+::\/64$/, '$1:/48')

/**
 * Slows down password guessing. Counts the failed attempts of each address, of each network for one name, and of all
 * networks together for one name. Each count can cause a wait.
 *
 * The wait for all networks must not let anybody lock a user out. So it does not apply to trusted networks, which have
 * a recent login for this name. It applies to a network without recent failures only after UNTRUSTED_LIMIT.
 */
export const createLoginThrottle = (deps: LoginThrottleDeps): LoginThrottle => {
  if (!deps.enabled) return (_name, _address, attempt) => attempt()
  const { environment, credentials } = deps
  const counts = createFailureCounts(deps)
  const addresses = createRecentFailures(environment)
  const untrusted = createRecentFailures(environment, UNTRUSTED_LIMIT)
  // Attempts run one after another, so each attempt sees the counts of the earlier attempts.
  const inTurn = createTurns()
  let pending = 0

  const ageOf = createAges(deps)
  const aged = (hash: string, { failures, at, succeededAt }: LoginFailures): AgedFailures => {
    const ageSince = (time: string | null): number => (time === null ? Infinity : ageOf(hash, Date.parse(time)))
    return { failures, age: ageSince(at), successAge: ageSince(succeededAt) }
  }

  const attemptFrom = async <A>(guessed: Attempt, attempt: () => Promise<Either<TooBusy | Unavailable, Option<A>>>) => {
    const { name: { hash: name, isKnown }, place, address } = guessed
    const [ofPlace, ofAll] = await Promise.all([counts.load(place), counts.load(name)])
    const agedPlace = aged(place, ofPlace)

    const runAttempt = async () => {
      const attempted = await attempt()
      if (E.isLeft(attempted)) return attempted
      if (O.isSome(attempted.right)) {
        await Promise.all([counts.record(place, 'Succeed', ofPlace), counts.record(name, 'Clear', ofAll)])
        return attempted
      }
      addresses.recordFailure(address)
      if (!isTrusted(agedPlace)) untrusted.recordFailure(name)
      await Promise.all([counts.record(place, 'Fail', ofPlace), counts.record(name, 'Fail', ofAll, isKnown)])
      return attempted
    }

    const wait = networkWaitMs(agedPlace)
    if (wait > 0) return tooMany(wait)
    if (isTrusted(agedPlace)) return await runAttempt()
    if (hasNoRecentFailure(agedPlace) && untrusted.waitMs(name) === 0) return await runAttempt()
    return await inTurn(`name ${name}`, async () => {
      const waitForAll = nameWaitMs(aged(name, await counts.load(name)))
      return waitForAll > 0 ? tooMany(waitForAll) : await runAttempt()
    })
  }

  return async (name, address, attempt) => {
    if (pending >= MAX_ATTEMPTS) return E.left({ _tag: 'TooBusy' })
    pending += 1
    const place = credentials.keyedHash('login-place', `${name.hash} ${networkOf(address)}`)
    try {
      return await inTurn(`address ${address}`, async () => {
        const wait = addresses.waitMs(address)
        if (wait > 0) return tooMany(wait)
        return await inTurn(`place ${place}`, () => attemptFrom({ name, place, address }, attempt))
      })
    } finally {
      pending -= 1
    }
  }
}
