import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { listenerTokenStream } from '../../domain/live/events.ts'
import { listenerTokenClaim } from '../../domain/live/listener-token-claim.ts'
import type { ListenerTokenTaken, Unavailable } from '../errors.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { loadState } from '../log/states/load-state.ts'
import type { HolderOfToken } from '../ports/read-models.ts'

const taken = (): ListenerTokenTaken => ({ _tag: 'ListenerTokenTaken' })

/**
 * Checks that a user may choose this listener token. Refuses a token that another user claimed, a random listener token
 * of another user, and every sender token. Random tokens have no claim, so the read model is checked for them.
 */
export const checkListenerToken = (
  deps: Pick<WriteDeps, 'store' | 'keyring'> & { readonly holderOfToken: HolderOfToken },
  hash: string,
  userId: number,
): Promise<Either<ListenerTokenTaken | Unavailable, void>> =>
  pipe(
    () => loadState(deps)(listenerTokenStream(hash), listenerTokenClaim),
    TE.filterOrElseW(({ state: claimant }) => claimant === null || claimant === userId, taken),
    TE.chainW(() => () => deps.holderOfToken(hash)),
    TE.filterOrElseW(
      O.match(() => true, (holder) => holder.role === 'listener' && holder.userId === userId),
      taken,
    ),
    TE.map(() => undefined),
  )()
