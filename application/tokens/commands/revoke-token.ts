import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../caller.ts'
import type { ApiTokenNotFound, Unavailable } from '../../errors.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import type { Environment } from '../../ports/environment.ts'
import type { TokenDirectory } from '../policies/token-directory.ts'
import { anyOwnerOf, ownerOf } from '../token-writes.ts'
import type { TokenWrites } from '../token-writes.ts'

/** For good. */
export type RevokeToken = (caller: Caller, tokenId: number) => TaskEither<ApiTokenNotFound | Unavailable, void>

export interface RevokeTokenDeps extends Pick<TokenWrites, 'send'> {
  readonly environment: Pick<Environment, 'newId' | 'now'>
  readonly tokens: Pick<TokenDirectory, 'byId'>
}

type FindOwner = (caller: Caller, tokenId: number) => TaskEither<Unavailable, Option<number>>

const notFound: ApiTokenNotFound = { _tag: 'ApiTokenNotFound' }

const revokeOf =
  ({ environment, send }: RevokeTokenDeps, findOwner: FindOwner): RevokeToken =>
  (caller, tokenId) =>
  async () => {
    const owner = await findOwner(caller, tokenId)()
    if (E.isLeft(owner)) return owner
    if (O.isNone(owner.right)) return E.left(notFound)
    const command = { type: 'Revoke', userId: owner.right.value, at: environment.now() } as const
    const revoked = await send(caller, tokenId, command, environment.newId())()
    if (E.isRight(revoked)) return E.right(undefined)
    const meanings = { TokenUnknown: notFound, TokenExists: null, ExpiryNotInFuture: null }
    return E.left(meaningOf('an API token', revoked.left, meanings))
  }

/** One of the caller's. */
export const revokeToken = (deps: RevokeTokenDeps): RevokeToken =>
  revokeOf(deps, (caller, tokenId) => ownerOf(deps.tokens, caller, tokenId))

/** For administrators: anybody's. */
export const revokeAnyToken = (deps: RevokeTokenDeps): RevokeToken =>
  revokeOf(deps, (_caller, tokenId) => anyOwnerOf(deps.tokens, tokenId))
