import * as E from 'fp-ts/lib/Either.js'
import type { Environment } from '../../../application/ports/environment.ts'
import type { SocketRole } from '../../../application/ports/read-models.ts'
import { createFailureLimit } from '../../http/clients/failure-limit.ts'
import { createBuckets } from '../../http/clients/request-limits.ts'
import { tooMany } from './handshake.ts'
import type { HandshakeRefusal } from './handshake.ts'

/** What a token opens. */
interface Opened {
  readonly liveId: number
  readonly role: SocketRole
}

/** How often an address may shake hands, with tokens that are right and with others. */
export interface HandshakeLimits {
  /** Asked before a token is looked up and again when it was found: may this address try it? */
  readonly mayTry: (address: string, token: string) => boolean
  /** A wrong token, or none: counts it; the answer in place of 401 where there were too many. */
  readonly wrong: (address: string) => HandshakeRefusal | null
  /** A right token: counts the handshake with this live; the answer where there were too many. */
  readonly right: (address: string, token: string, opened: Opened) => HandshakeRefusal | null
}

/** Characters from which on no token is found by trying. The service's own are longer; users may choose shorter ones. */
const UNGUESSABLE = 16
/** Short tokens that were right, each with the address that brought it. */
const MAX_KNOWN = 10_000
const WRONG: HandshakeRefusal = tooMany(60)

/** Two thousand behind one address may come to a live at once, and all of them again every twenty seconds. */
const PER_SECOND = 100
const BURST_SECONDS = 20

const NO_LIMITS: HandshakeLimits = { mayTry: () => true, wrong: () => null, right: () => null }

/** `failuresPerMinute` 0 switches all of them off. */
export const createHandshakeLimits = (
  environment: Pick<Environment, 'monotonic'>,
  failuresPerMinute: number,
): HandshakeLimits => {
  if (failuresPerMinute === 0) return NO_LIMITS
  const failures = createFailureLimit(environment, failuresPerMinute)
  const take = createBuckets(environment.monotonic, PER_SECOND, MAX_KNOWN, BURST_SECONDS)
  const known = new Set<string>()

  const remember = (pair: string): void => {
    known.delete(pair)
    known.add(pair)
    const [oldest] = known
    if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest)
  }

  return {
    // A right token passes whatever else its address sent: others may share the address. Only for a token that can be
    // guessed would that be an answer to every guess, so it passes where it was right before.
    mayTry: (address, token) =>
      token.length >= UNGUESSABLE || !failures.isReached(address) || known.has(`${address} ${token}`),
    wrong: (address) => {
      const isReached = failures.isReached(address)
      failures.countFailure(address)
      return isReached ? WRONG : null
    },
    right: (address, token, { liveId, role }) => {
      if (token.length < UNGUESSABLE) remember(`${address} ${token}`)
      const taken = take(`${address} ${liveId} ${role}`)
      return E.isLeft(taken) ? tooMany(taken.left.seconds) : null
    },
  }
}
