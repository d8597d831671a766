import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import { apiTokenNotFound } from '../../errors.ts'
import type { ApiTokenNotFound, Unavailable } from '../../errors.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ApiTokenView } from '../../ports/read-models.ts'
import type { TokenDirectory } from '../policies/token-directory.ts'
import type { TokenUses } from '../policies/token-uses.ts'
import { ownerOf, tokenViewOf } from '../token-writes.ts'
import type { TokenWrites } from '../token-writes.ts'

/** The changed members of a token. */
export interface ApiTokenChange {
  readonly name?: string
  readonly isActive?: boolean
}

export type ChangeToken = (
  caller: Caller,
  tokenId: number,
  change: ApiTokenChange,
) => Promise<Either<ApiTokenNotFound | Unavailable, ApiTokenView>>

export interface ChangeTokenDeps extends Pick<TokenWrites, 'send'> {
  readonly environment: Pick<Environment, 'newId' | 'now'>
  readonly tokens: Pick<TokenDirectory, 'byId'>
  readonly uses: Pick<TokenUses, 'lastUseOf'>
}

export const changeToken =
  ({ environment, tokens, uses, send }: ChangeTokenDeps): ChangeToken =>
  (caller, tokenId, change) => {
    const changeOf = (userId: number) => pipe(
      () => send(caller, tokenId, { type: 'Change', userId, ...change, at: environment.now() }, environment.newId()),
      TE.mapLeft((refusal) =>
        mapRefusal('an API token', refusal, {
          TokenUnknown: apiTokenNotFound, TokenExists: null, ExpiryNotInFuture: null,
        })),
    )()
    return pipe(
      () => ownerOf(tokens, caller, tokenId),
      TE.chainW(TE.fromOption(() => apiTokenNotFound)),
      TE.chainW((value) => () => changeOf(value)),
      TE.chainW((token) => (token.status === 'issued' ? TE.right({ token }) : TE.left(apiTokenNotFound))),
      TE.bindW('lastUsedAt', () => () => uses.lastUseOf(tokenId)),
      TE.map(({ token, lastUsedAt }) => tokenViewOf(token, lastUsedAt)),
    )()
  }
