import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { listenerTokenStream } from '../../domain/live/events.ts'
import { listenerTokenClaim } from '../../domain/live/listener-token-claim.ts'
import type { ListenerTokenTaken, Unavailable } from '../errors.ts'
import { loadState } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { HolderOfToken } from '../ports/read-models.ts'

/**
 * D15: owned by another user, whose random tokens count as well (they may be public), or equal to a sender token. Random
 * ones have no claim: nobody knows one before the read models do.
 */
export const checkListenerToken = async (
  deps: Pick<WriteDeps, 'store' | 'keyring'> & { readonly holderOfToken: HolderOfToken },
  hash: string,
  userId: number,
): Promise<Either<ListenerTokenTaken | Unavailable, void>> => {
  const claim = await loadState(deps)(listenerTokenStream(hash), listenerTokenClaim)()
  if (E.isLeft(claim)) return claim
  if (claim.right.state !== null && claim.right.state !== userId) return E.left({ _tag: 'ListenerTokenTaken' })
  const held = await deps.holderOfToken(hash)()
  if (E.isLeft(held)) return held
  const holder = O.toNullable(held.right)
  const isFree = holder === null || (holder.role === 'listener' && holder.userId === userId)
  return isFree ? E.right(undefined) : E.left({ _tag: 'ListenerTokenTaken' })
}
