import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import {
  type LoginFailures, loginFailuresDecider, type LoginOutcome, newerCount, sharedFailuresDecider,
} from '../../domain/login/decider.ts'
import { loginFailuresStream, SHARED_FAILURES, sharedFailuresStream } from '../../domain/login/events.ts'
import type { Unavailable } from '../refusals.ts'
import { handleCommand, type WriteDeps } from '../log/handle-command.ts'
import { originOf } from '../log/origin.ts'
import { storeInstant } from '../store-time.ts'
import { loadState } from '../log/states/load-state.ts'
import { createLruCache } from '../lru-cache.ts'
import type { Logger } from '../ports/environment.ts'

export interface FailureCountDeps extends WriteDeps {
  readonly logger: Logger
}

/** Number of counts that are kept in memory, for times when the store is unavailable. */
const MAX_REMEMBERED = 10_000
/** A failure counts for a day. A success makes a network trusted for thirty days. */
const FAILURE_SECONDS = 24 * 3600
const SUCCESS_SECONDS = 30 * FAILURE_SECONDS

/**
 * Counts failed logins by hash: of a name, or of a name and a network. Stores them as events, so they survive a restart
 * and all processes see them. Counts in memory while the store is unavailable.
 *
 * Anybody can invent names and use many networks. So only the names of users, and networks from which a login
 * succeeded, have streams of their own. The failures of all others share a fixed number of streams.
 */
export const createFailureCounts = (deps: FailureCountDeps) => {
  const { store, logger } = deps
  const remembered = createLruCache<string, LoginFailures>(MAX_REMEMBERED)

  const recall = (hash: string, otherwise = loginFailuresDecider.initialState): LoginFailures =>
    remembered.get(hash) ?? otherwise

  /** Reads both streams of every hash, so the time of an answer does not show whether a name is known. */
  const load = async (hash: string): Promise<LoginFailures> => {
    const [own, shared] = await Promise.all([
      loadState(deps)(loginFailuresStream(hash), loginFailuresDecider),
      loadState(deps)(sharedFailuresStream(hash), sharedFailuresDecider),
    ])
    const ofOwn = E.isRight(own) ? own.right.state : loginFailuresDecider.initialState
    const ofShared = (E.isRight(shared) ? shared.right.state.get(hash) : undefined) ?? ofOwn
    const stored = { ...newerCount(ofOwn, ofShared), succeededAt: ofOwn.succeededAt }
    // If both have the same time, memory counts, because it also holds failures that could not be stored.
    return newerCount(recall(hash), stored)
  }

  const storeOwn = async (hash: string, command: LoginOutcome): Promise<Either<Unavailable, LoginFailures>> => {
    const stream = loginFailuresStream(hash)
    const origin = originOf(deps, 'service')
    const handled = await handleCommand(deps)({ ...origin, stream, decider: loginFailuresDecider, command })
    if (E.isLeft(handled)) return handled
    const { state, position } = handled.right
    const maxAgeSeconds = state.succeededAt === null ? FAILURE_SECONDS : SUCCESS_SECONDS
    if (position !== null && state.failures <= 1) await store.setMetadata(stream, { maxCount: 1, maxAgeSeconds })
    return E.right(state)
  }

  const storeShared = async (
    hash: string,
    before: LoginFailures,
    at: string,
  ): Promise<Either<Unavailable, LoginFailures>> => {
    const stream = sharedFailuresStream(hash)
    const command = { hash, before, at }
    const origin = originOf(deps, 'service')
    const handled = await handleCommand(deps)({ ...origin, stream, decider: sharedFailuresDecider, command })
    if (E.isLeft(handled)) return handled
    const count = handled.right.state.get(hash) ?? before
    // As often as for a stream of its own, so the time of an answer does not show whether a name is known.
    if (count.failures === 1)
      await store.setMetadata(stream, { maxCount: SHARED_FAILURES, maxAgeSeconds: FAILURE_SECONDS })
    return E.right(count)
  }

  /**
   * Records an outcome. `before`: the known count. `isUser`: the hash is the name of a user. An outcome that does not
   * change the count is not written.
   */
  const record = async (
    hash: string,
    type: LoginOutcome['type'],
    before: LoginFailures,
    isUser = false,
  ): Promise<void> => {
    const command = { type, at: storeInstant(store) }
    const decided = loginFailuresDecider.decide(command, before)
    if (E.isRight(decided) && decided.right.length === 0) return
    const hasOwnStream = isUser || type !== 'Fail' || before.succeededAt !== null
    const stored = await (hasOwnStream ? storeOwn(hash, command) : storeShared(hash, before, command.at))
    if (E.isRight(stored)) return remembered.set(hash, stored.right)
    logger.warn({ reason: stored.left._tag }, 'a login attempt is counted in memory only')
    const inMemory = loginFailuresDecider.decide(command, recall(hash, before))
    if (E.isRight(inMemory))
      remembered.set(hash, inMemory.right.reduce(loginFailuresDecider.evolve, recall(hash, before)))
  }

  return { load, record }
}
