import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import { type ApiTokenNotFound, apiTokenNotFound, type Unavailable } from '../../refusals.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import type { Environment } from '../../ports/environment.ts'
import type { TokenDirectory } from '../policies/token-directory.ts'
import { anyOwnerOf, ownerOf, type TokenWrites } from '../token-writes.ts'

/** Revokes a token permanently. */
export type RevokeToken = (caller: Caller, tokenId: number) => Promise<Either<ApiTokenNotFound | Unavailable, void>>

export interface RevokeTokenDeps extends Pick<TokenWrites, 'send'> {
  readonly environment: Pick<Environment, 'newId'>
  readonly tokens: Pick<TokenDirectory, 'byId'>
}

type FindOwner = (caller: Caller, tokenId: number) => Promise<Either<Unavailable, Option<number>>>

const revokeWith =
  ({ environment, send }: RevokeTokenDeps, findOwner: FindOwner): RevokeToken =>
  async (caller, tokenId) => {
    const owner = await findOwner(caller, tokenId)
    if (E.isLeft(owner)) return owner
    if (O.isNone(owner.right)) return E.left(apiTokenNotFound)
    const command = { type: 'Revoke', userId: owner.right.value } as const
    return pipe(
      await send(caller, tokenId, command, environment.newId()),
      E.bimap(
        (refusal) => mapRefusal(refusal, { TokenUnknown: apiTokenNotFound }),
        () => undefined,
      ),
    )
  }

export const revokeToken = (deps: RevokeTokenDeps): RevokeToken =>
  revokeWith(deps, (caller, tokenId) => ownerOf(deps.tokens, caller, tokenId))

/** For administrators: revokes a token of any user. */
export const revokeAnyToken = (deps: RevokeTokenDeps): RevokeToken =>
  revokeWith(deps, (_caller, tokenId) => anyOwnerOf(deps.tokens, tokenId))
