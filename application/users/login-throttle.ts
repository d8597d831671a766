import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { hasNoRecentFailure, isTrusted, loginFailuresDecider, networkWaitMs, nameWaitMs } from '../../domain/login/decider.ts'
import type { LoginFailures, LoginOutcome } from '../../domain/login/decider.ts'
import { loginFailuresStream } from '../../domain/login/events.ts'
import type { TooManyRequests, Unavailable } from '../errors.ts'
import { handleCommand, loadState } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { originOf } from '../log/origin.ts'
import type { Credentials, TooBusy } from '../ports/credentials.ts'
import type { Logger } from '../ports/environment.ts'
import { createTurns } from '../turns.ts'
import { createRecentFailures } from './recent-failures.ts'

export interface LoginThrottleDeps extends WriteDeps {
  readonly logger: Logger
  readonly credentials: Pick<Credentials, 'keyedHash'>
  /** False: nothing is counted and nothing refused (D57, RATE_LIMIT 0). */
  readonly enabled: boolean
}

/**
 * Runs `attempt`, in which somebody shows a password; none means a wrong one. Refused while whoever it is has to wait.
 * `name` is what `guessedName` gives.
 */
export type LoginThrottle = <A>(
  name: string,
  address: string,
  attempt: () => Promise<Either<TooBusy | Unavailable, Option<A>>>,
) => Promise<Either<TooManyRequests | TooBusy | Unavailable, Option<A>>>

/** Under which guesses at a user's password are counted: of a new password there are none yet. */
export const guessedName = (usernameHash: string, generation = 0): string =>
  generation === 0 ? usernameHash : `${usernameHash}-${generation}`

/** Attempts in hand, running or waiting; as many as passwords may wait to be hashed. */
const MAX_ATTEMPTS = 100
/** Counts that are remembered for when the store is away. */
const MAX_REMEMBERED = 10_000
/** A failure counts for a day, a success makes a network trusted for thirty: nothing is kept for longer. */
const FAILURE_SECONDS = 24 * 3600
const SUCCESS_SECONDS = 30 * FAILURE_SECONDS
/** Failures of one name from networks that are not trusted; after so many its own wait holds for new ones too. */
const STRANGERS = { most: 100, windowMs: 15 * 60_000 }

const tooMany = (milliseconds: number): Either<TooManyRequests, never> =>
  E.left({ _tag: 'TooManyRequests', seconds: Math.max(1, Math.ceil(milliseconds / 1000)) })

/** Whose guesses are counted together: of a name, of that name from one network, of an address. */
interface Guessed {
  readonly name: string
  readonly place: string
  readonly address: string
}

/** A /48 of IPv6 is one network, for whoever has one may have all of it; else the address is. */
const networkOf = (address: string): string => address.replace(/^((?:[0-9a-f]+:){3})[0-9a-f]+::\/64$/, '$1:/48')

/** The failures of names, as events: a restart forgets none. While the store is away they are counted in memory. */
const createFailureCounts = (deps: LoginThrottleDeps) => {
  const remembered = new Map<string, LoginFailures>()

  const remember = (hash: string, state: LoginFailures): void => {
    remembered.delete(hash)
    remembered.set(hash, state)
    const [oldest] = remembered.keys()
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
  }

  const recall = (hash: string, otherwise = loginFailuresDecider.initialState): LoginFailures =>
    remembered.get(hash) ?? otherwise

  const load = async (hash: string): Promise<LoginFailures> => {
    const known = recall(hash)
    const loaded = await loadState(deps)(loginFailuresStream(hash), loginFailuresDecider)()
    if (E.isLeft(loaded)) return known
    const { state } = loaded.right
    // At one and the same time memory is ahead: it also holds what could not be stored.
    return (state.at ?? '') > (known.at ?? '') ? state : known
  }

  /** `before`: what is known; where that makes it no news, nothing is written. */
  const record = async (hash: string, type: LoginOutcome['type'], before: LoginFailures): Promise<void> => {
    const command = { type, at: deps.environment.now() }
    const decided = loginFailuresDecider.decide(command, before)
    if (E.isRight(decided) && decided.right.length === 0) return
    const stream = loginFailuresStream(hash)
    const origin = originOf(deps, 'service')
    const handled = await handleCommand(deps)({ ...origin, stream, decider: loginFailuresDecider, command })()
    if (E.isLeft(handled)) {
      deps.logger.warn({ reason: handled.left._tag }, 'a login was counted in memory only')
      const inMemory = loginFailuresDecider.decide(command, recall(hash, before))
      if (E.isRight(inMemory)) remember(hash, inMemory.right.reduce(loginFailuresDecider.evolve, recall(hash, before)))
      return
    }
    const { state, position } = handled.right
    remember(hash, state)
    if (position === null || state.failures > 1) return
    const maxAgeSeconds = state.succeededAt === null ? FAILURE_SECONDS : SUCCESS_SECONDS
    await deps.store.setMetadata(stream, { maxCount: 1, maxAgeSeconds })()
  }

  return { load, record }
}

/**
 * Slows down who guesses passwords: an address by all that it tries, a network by what it tries of one name, and a
 * name as a whole. The last spares networks from which the name was logged in lately and, until they are many, those
 * that have not failed: else anybody could shut anybody out.
 */
export const createLoginThrottle = (deps: LoginThrottleDeps): LoginThrottle => {
  if (!deps.enabled) return (_name, _address, attempt) => attempt()
  const { environment, credentials } = deps
  const counts = createFailureCounts(deps)
  const addresses = createRecentFailures(environment)
  const strangers = createRecentFailures(environment, STRANGERS)
  // What an attempt finds counted is what the one before it left.
  const inTurn = createTurns()
  let inHand = 0

  const attemptOn = async <A>(guessed: Guessed, attempt: () => Promise<Either<TooBusy | Unavailable, Option<A>>>) => {
    const { name, place, address } = guessed
    const [ofPlace, ofAll] = await Promise.all([counts.load(place), counts.load(name)])

    /** Writes down what comes of the attempt. */
    const judge = async () => {
      const attempted = await attempt()
      if (E.isLeft(attempted)) return attempted
      if (O.isSome(attempted.right)) {
        await Promise.all([counts.record(place, 'Succeed', ofPlace), counts.record(name, 'Clear', ofAll)])
        return attempted
      }
      addresses.failed(address)
      if (!isTrusted(ofPlace, environment.now())) strangers.failed(name)
      await Promise.all([counts.record(place, 'Fail', ofPlace), counts.record(name, 'Fail', ofAll)])
      return attempted
    }

    const wait = networkWaitMs(ofPlace, environment.now())
    if (wait > 0) return tooMany(wait)
    if (isTrusted(ofPlace, environment.now())) return await judge()
    if (hasNoRecentFailure(ofPlace, environment.now()) && strangers.wait(name) === 0) return await judge()
    return await inTurn(`name ${name}`, async () => {
      const waitForAll = nameWaitMs(await counts.load(name), environment.now())
      return waitForAll > 0 ? tooMany(waitForAll) : await judge()
    })
  }

  return async (name, address, attempt) => {
    if (inHand >= MAX_ATTEMPTS) return E.left({ _tag: 'TooBusy' })
    inHand += 1
    const place = credentials.keyedHash('login-place', `${name} ${networkOf(address)}`)
    try {
      return await inTurn(`address ${address}`, async () => {
        const wait = addresses.wait(address)
        if (wait > 0) return tooMany(wait)
        return await inTurn(`place ${place}`, () => attemptOn({ name, place, address }, attempt))
      })
    } finally {
      inHand -= 1
    }
  }
}
