import * as E from 'fp-ts/lib/Either.js'
import type { CreateLiveOnce } from '../../../application/lives/commands/create-live-once.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import { createFailureLimit } from './failure-limit.ts'

const REFUSALS_PER_MINUTE = 30
const TOO_MANY = E.left({ _tag: 'TooManyRequests', seconds: 60 } as const)

/**
 * Limits how many listener tokens of other users one user can find. After 30 refusals within a minute because of such
 * tokens, all creates of this user that choose a listener token get 429.
 */
export const limitTokenGuesses = (
  environment: Pick<Environment, 'monotonic'>,
  create: CreateLiveOnce,
): CreateLiveOnce => {
  const refusals = createFailureLimit(environment, REFUSALS_PER_MINUTE)
  return async (caller, request, idempotencyKey) => {
    if (request.listenerToken === null) return await create(caller, request, idempotencyKey)
    const user = String(caller.userId)
    if (refusals.isReached(user)) return TOO_MANY
    const created = await create(caller, request, idempotencyKey)
    if (E.isRight(created)) return created
    // Checked again, so guesses that run at the same time learn no more than guesses one after another.
    if (refusals.isReached(user)) return TOO_MANY
    if (created.left._tag === 'ListenerTokenTaken') refusals.countFailure(user)
    return created
  }
}
