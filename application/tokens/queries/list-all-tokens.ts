import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { traverseAtOnce } from '../../at-once.ts'
import type { Unavailable } from '../../errors.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { ApiTokenView, PageOfTokens } from '../../ports/read-models.ts'
import type { UserDirectory } from '../../users/policies/user-directory.ts'

/** An API token as administrators see it. */
export interface OwnedToken extends ApiTokenView {
  readonly username: string
}

/** For administrators: the API tokens of all users, or of one, newest first. */
export type ListAllTokens = (userId: number | null, page: PageQuery) => TaskEither<Unavailable, Page<OwnedToken>>

export interface ListAllTokensDeps {
  readonly pageOfTokens: PageOfTokens
  readonly directory: Pick<UserDirectory, 'byId'>
}

/** Owners looked up at a time, where they are not in memory. */
const OWNERS_AT_ONCE = 16

export const listAllTokens =
  ({ pageOfTokens, directory }: ListAllTokensDeps): ListAllTokens =>
  (userId, page) =>
  async () => {
    const found = await pageOfTokens(userId, page)()
    if (E.isLeft(found)) return found
    const { items, total } = found.right
    const named = await traverseAtOnce(OWNERS_AT_ONCE, items, async (token) => {
      const owner = await directory.byId(token.userId)()
      const nameOf = O.match(() => '', ({ username }: { readonly username: string }) => username)
      return E.isLeft(owner) ? owner : E.right({ ...token, username: nameOf(owner.right) })
    })
    return E.map((tokens: ReadonlyArray<OwnedToken>) => ({ items: tokens, total }))(named)
  }
