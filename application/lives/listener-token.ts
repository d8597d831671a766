import * as O from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { listenerTokenStream } from '../../domain/live/events.ts'
import { listenerTokenClaim } from '../../domain/live/listener-token-claim.ts'
import type { ListenerTokenTaken, Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { loadState } from '../log/states/load-state.ts'
import type { HolderOfToken } from '../ports/read-models.ts'

const taken: ListenerTokenTaken = { _tag: 'ListenerTokenTaken' }

/**
 * Checks that a user may choose this listener token. Refuses a token that another user claimed, a random listener token
 * of another user, and every sender token. Random tokens have no claim, so the read model is checked for them.
 */
export const checkListenerToken = async (
  deps: Pick<WriteDeps, 'store' | 'keyring'> & { readonly holderOfToken: HolderOfToken },
  hash: string,
  userId: number,
): Promise<Either<ListenerTokenTaken | Unavailable, void>> => {
  const claim = await loadState(deps)(listenerTokenStream(hash), listenerTokenClaim)
  if (E.isLeft(claim)) return claim
  const { state: claimant } = claim.right
  if (claimant !== null && claimant !== userId) return E.left(taken)
  const holder = await deps.holderOfToken(hash)
  if (E.isLeft(holder)) return holder
  const isFree = pipe(
    holder.right,
    O.match(() => true, (known) => known.role === 'listener' && known.userId === userId),
  )
  return isFree ? E.right(undefined) : E.left(taken)
}
