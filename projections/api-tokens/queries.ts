import * as O from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Documents, DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ApiTokenView, IdsOfUser, PageOfTokens, TokenIdByPrefix } from '../../application/ports/read-models.ts'
import { ApiTokenIssued, ApiTokenRenamed, apiTokenStream } from '../../domain/api-token/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { userKey } from '../../domain/user/events.ts'
import { idsOfUser } from '../ids-of-user.ts'
import { newestFirst } from '../newest-first.ts'
import type { WhyBehind } from '../once-current.ts'
import { totalOf } from '../totals.ts'
import type { QueryDeps, ReadDocuments } from '../typed-documents.ts'
import { API_TOKEN_TOTALS, API_TOKENS, type ApiTokenDocument, apiTokensIn } from './document.ts'

/** Members of events that seal a token name. */
const NAME_MEMBERS = [`${ApiTokenIssued.type}.name`, `${ApiTokenRenamed.type}.name`]

const openTokens =
  (keyring: Pick<Keyring, 'open'>) =>
  async (tokens: ReadonlyArray<ApiTokenDocument>): Promise<Either<KeyringUnavailable, ReadonlyArray<ApiTokenView>>> => {
    const placeOf = ({ id, userId }: ApiTokenDocument) =>
      ({ key: userKey(userId), stream: apiTokenStream(id), members: NAME_MEMBERS })
    const names = await keyring.open(tokens.map((token) => ({ envelope: token.name, ...placeOf(token) })))
    return pipe(
      names,
      E.map((opened) => tokens.map((token, index) => ({ ...token, name: textOrErased(opened[index]) }))),
    )
  }

export const tokenIdsOf = ({ documents }: { readonly documents: Pick<Documents, 'page'> }): IdsOfUser =>
  idsOfUser(documents, API_TOKENS)

export type ListTokens = (
  userId: number,
  page: PageQuery,
) => Promise<Either<DocumentsUnavailable | KeyringUnavailable, Page<ApiTokenView>>>

const countOf = async (documents: ReadDocuments, userId: number): Promise<Either<DocumentsUnavailable, number>> =>
  pipe(await tokenIdsOf({ documents })(userId), E.map((ids) => ids.length))

/** Returns a page of the tokens of a user, or of all users when `userId` is null. */
export const pageOfTokens =
  ({ documents, keyring }: QueryDeps): PageOfTokens =>
  async (userId, { skip, limit }) => {
    const counted = await (userId === null ? totalOf(documents, API_TOKEN_TOTALS) : countOf(documents, userId))
    if (E.isLeft(counted)) return counted
    const total = counted.right
    if (skip >= total) return E.right({ items: [], total })
    const filter = userId === null ? {} : { userId }
    const sealed = await newestFirst(apiTokensIn(documents), filter, { skip, limit }, total)
    if (E.isLeft(sealed)) return sealed
    return pipe(await openTokens(keyring)(sealed.right), E.map((items) => ({ items, total })))
  }

export const listTokens = (deps: QueryDeps): ListTokens => pageOfTokens(deps)

interface PrefixDeps {
  readonly documents: Pick<Documents, 'page'>
  readonly whyBehind: WhyBehind
}

/**
 * Finds a token by the public part of its secret. While the list is catching up, a token that is not listed may still
 * exist. The result is then an error.
 */
export const tokenIdByPrefix =
  ({ documents, whyBehind }: PrefixDeps): TokenIdByPrefix =>
  async (prefix) => {
    // Decided before the list is read, because the list may catch up during the read.
    const why = whyBehind(API_TOKENS)
    const notListed = why === null ? E.right(O.none) : E.left(why)
    const request = { filter: { prefix }, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 1 } as const
    const found = await documents.page(API_TOKENS, request)
    if (E.isLeft(found)) return found
    const [token] = found.right
    return token === undefined ? notListed : E.right(O.some(Number(token['id'])))
  }
