import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { loginFailuresDecider, waitAfter } from '../../domain/login/decider.ts'
import type { LoginFailures, LoginOutcome } from '../../domain/login/decider.ts'
import { loginFailuresStream } from '../../domain/login/events.ts'
import type { TooManyRequests } from '../errors.ts'
import { handleCommand, loadState } from '../handle-command.ts'
import type { WriteDeps } from '../handle-command.ts'
import type { TooBusy } from '../ports/credentials.ts'
import type { Logger } from '../ports/environment.ts'
import { createAddressFailures } from './address-failures.ts'

export interface LoginThrottleDeps extends WriteDeps {
  readonly logger: Logger
  /** False: nothing is counted and nothing refused (D57, RATE_LIMIT 0). */
  readonly enabled: boolean
}

/**
 * Runs `attempt`, in which somebody shows a password; none means a wrong one. Refused while the name or the address has
 * to wait (S24).
 */
export type LoginThrottle = <A>(
  usernameHash: string,
  address: string,
  attempt: () => Promise<Either<TooBusy, Option<A>>>,
) => Promise<Either<TooManyRequests | TooBusy, Option<A>>>

/** Attempts in hand, running or waiting; as many as passwords may wait to be hashed. */
const MAX_ATTEMPTS = 100
/** Names whose last count is remembered for when the store is away. */
const MAX_REMEMBERED = 10_000
/** Longer than the longest wait; an old failure is of no use. */
const KEPT_SECONDS = 24 * 3600

const tooMany = (milliseconds: number): Either<TooManyRequests, never> =>
  E.left({ _tag: 'TooManyRequests', seconds: Math.max(1, Math.ceil(milliseconds / 1000)) })

/** One task of a key after the other: what an attempt finds counted is what the one before it left. */
const createLines = () => {
  const lines = new Map<string, Promise<unknown>>()
  return async <A>(key: string, task: () => Promise<A>): Promise<A> => {
    const result = (lines.get(key) ?? Promise.resolve()).then(task)
    const settled = result.catch(() => undefined)
    lines.set(key, settled)
    void settled.then(() => {
      if (lines.get(key) === settled) lines.delete(key)
    })
    return await result
  }
}

/** The failures of names, as events: a restart forgets none. While the store is away they are counted in memory. */
const createNameFailures = (deps: LoginThrottleDeps) => {
  const remembered = new Map<string, LoginFailures>()

  const remember = (usernameHash: string, state: LoginFailures): void => {
    remembered.delete(usernameHash)
    remembered.set(usernameHash, state)
    const [oldest] = remembered.keys()
    if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest)
  }

  const load = async (usernameHash: string): Promise<LoginFailures> => {
    const known = remembered.get(usernameHash) ?? loginFailuresDecider.initialState
    const loaded = await loadState(deps)(loginFailuresStream(usernameHash), loginFailuresDecider)()
    if (E.isLeft(loaded)) return known
    const { state } = loaded.right
    // At one and the same time memory is ahead: it also holds what could not be stored.
    return (state.at ?? '') > (known.at ?? '') ? state : known
  }

  const record = async (usernameHash: string, before: LoginFailures, type: LoginOutcome['type']): Promise<void> => {
    const command = { type, at: deps.environment.now() }
    const stream = loginFailuresStream(usernameHash)
    const commandId = deps.environment.newId()
    const about = { commandId, correlationId: commandId, actor: 'service' }
    const handled = await handleCommand(deps)({ stream, decider: loginFailuresDecider, command, ...about })()
    if (E.isRight(handled)) remember(usernameHash, handled.right.state)
    else {
      deps.logger.warn({ reason: handled.left._tag }, 'a login was counted in memory only')
      remember(usernameHash, { failures: type === 'Fail' ? before.failures + 1 : 0, at: command.at })
    }
    if (E.isRight(handled) && type === 'Fail' && handled.right.state.failures === 1) {
      await deps.store.setMetadata(stream, { maxCount: 1, maxAgeSeconds: KEPT_SECONDS })()
    }
  }

  return { load, record }
}

/** Slows down who guesses passwords, by name and by address. */
export const createLoginThrottle = (deps: LoginThrottleDeps): LoginThrottle => {
  if (!deps.enabled) return (_usernameHash, _address, attempt) => attempt()
  const names = createNameFailures(deps)
  const addresses = createAddressFailures(deps.environment)
  const inTurn = createLines()
  let inHand = 0

  const attemptOn = async <A>(usernameHash: string, address: string, attempt: () => Promise<Either<TooBusy, Option<A>>>) => {
    const before = await names.load(usernameHash)
    const wait = waitAfter(before, deps.environment.now())
    if (wait > 0) return tooMany(wait)
    const attempted = await attempt()
    if (E.isLeft(attempted)) return attempted
    const isFailure = O.isNone(attempted.right)
    if (isFailure) addresses.failed(address)
    if (isFailure || before.failures > 0) await names.record(usernameHash, before, isFailure ? 'Fail' : 'Clear')
    return attempted
  }

  return async (usernameHash, address, attempt) => {
    if (inHand >= MAX_ATTEMPTS) return E.left({ _tag: 'TooBusy' })
    inHand += 1
    try {
      return await inTurn(`address ${address}`, async () => {
        const wait = addresses.wait(address)
        return wait > 0 ? tooMany(wait) : await inTurn(`name ${usernameHash}`, () => attemptOn(usernameHash, address, attempt))
      })
    } finally {
      inHand -= 1
    }
  }
}
