import * as O from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { traverseConcurrently } from '../../concurrency.ts'
import type { Unavailable } from '../../refusals.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { ApiTokenView, PageOfTokens } from '../../ports/read-models.ts'
import type { UserDirectory } from '../../users/policies/user-directory.ts'

/** An API token as administrators see it. */
export interface OwnedToken extends ApiTokenView {
  readonly username: string
}

/** For administrators: lists the API tokens of one user or of all users (null), newest first. */
export type ListAllTokens = (userId: number | null, page: PageQuery) => Promise<Either<Unavailable, Page<OwnedToken>>>

export interface ListAllTokensDeps {
  readonly pageOfTokens: PageOfTokens
  readonly directory: Pick<UserDirectory, 'byId'>
}

/** Maximum number of owners that are read at the same time, when they are not in memory. */
const OWNERS_AT_ONCE = 16

export const listAllTokens =
  ({ pageOfTokens, directory }: ListAllTokensDeps): ListAllTokens =>
  async (userId, page) => {
    const withOwner = async (token: ApiTokenView): Promise<Either<Unavailable, OwnedToken>> =>
      pipe(
        await directory.byId(token.userId),
        E.map(O.match(() => '', ({ username }) => username)),
        E.map((username) => ({ ...token, username })),
      )
    const found = await pageOfTokens(userId, page)
    if (E.isLeft(found)) return found
    const { items, total } = found.right
    const owned = await traverseConcurrently(OWNERS_AT_ONCE, items, withOwner)
    return pipe(owned, E.map((tokens) => ({ items: tokens, total })))
  }
