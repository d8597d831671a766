import * as E from 'fp-ts/lib/Either.js'
import { createLruCache } from '../../../application/lru-cache.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import type { SocketRole } from '../../../application/ports/read-models.ts'
import { createFailureLimit } from '../../http/clients/failure-limit.ts'
import { createBuckets } from '../../http/clients/request-limits.ts'
import { type HandshakeRefusal, tooMany } from './handshake.ts'

/** The session and the role of a valid token. */
interface TokenTarget {
  readonly liveId: number
  readonly role: SocketRole
}

export interface HandshakeLimits {
  /** Checks whether an address may try a token. Call it before and after the token lookup. */
  readonly mayTry: (address: string, token: string) => boolean
  /**
   * Checks whether a token that the lists do not show may be looked up in the log. An address with too many wrong
   * tokens must not cause a read of the log with each further one.
   */
  readonly mayReadLog: (address: string) => boolean
  /** Counts a wrong or missing token. Above the limit, returns the response that replaces 401; otherwise null. */
  readonly countWrong: (address: string) => HandshakeRefusal | null
  /** Counts a handshake with a valid token. Above the limit, returns a refusal; otherwise null. */
  readonly countValid: (address: string, token: string, target: TokenTarget) => HandshakeRefusal | null
}

/** Tokens of this length cannot be guessed. The service's own tokens are longer, but users may choose shorter ones. */
const MIN_UNGUESSABLE_CHARS = 16
/** Short valid tokens to remember, each with its address. */
const MAX_KNOWN_TOKENS = 10_000
const TOO_MANY_WRONG: HandshakeRefusal = tooMany(60)

/**
 * 2,000 clients at one address may connect to a session in a burst, and again after twenty seconds. Nothing limits how
 * many stay connected, because the whole audience behind a proxy has one address.
 */
const PER_SECOND = 100
const BURST_SECONDS = 20

const NO_LIMITS: HandshakeLimits = {
  mayTry: () => true, mayReadLog: () => true, countWrong: () => null, countValid: () => null,
}

/** Creates the limits of handshakes. `failuresPerMinute` 0 switches them off. */
export const createHandshakeLimits = (
  environment: Pick<Environment, 'monotonic'>,
  failuresPerMinute: number,
): HandshakeLimits => {
  if (failuresPerMinute === 0) return NO_LIMITS
  const failures = createFailureLimit(environment, failuresPerMinute)
  const { take } = createBuckets(environment.monotonic, PER_SECOND, MAX_KNOWN_TOKENS, BURST_SECONDS)
  const knownTokens = createLruCache<string, true>(MAX_KNOWN_TOKENS)

  return {
    // A long token always passes, because other clients may share the address. A short token passes only if the same
    // address used it before. Otherwise an attacker could still guess tokens above the limit.
    mayTry: (address, token) =>
      token.length >= MIN_UNGUESSABLE_CHARS || !failures.isReached(address)
      || knownTokens.get(`${address} ${token}`) === true,
    mayReadLog: (address) => !failures.isReached(address),
    countWrong: (address) => {
      const isReached = failures.isReached(address)
      failures.countFailure(address)
      return isReached ? TOO_MANY_WRONG : null
    },
    countValid: (address, token, { liveId, role }) => {
      if (token.length < MIN_UNGUESSABLE_CHARS) knownTokens.set(`${address} ${token}`, true)
      const taken = take(`${address} ${liveId} ${role}`)
      return E.isLeft(taken) ? tooMany(taken.left.seconds) : null
    },
  }
}
