import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Documents, DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ApiTokenView, IdsOfUser, PageOfTokens, TokenIdByPrefix } from '../../application/ports/read-models.ts'
import { ApiTokenIssued, ApiTokenRenamed, apiTokenStream } from '../../domain/api-token/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { userKey } from '../../domain/user/events.ts'
import { idsOfUser } from '../ids-of-user.ts'
import { newestFirst } from '../newest-first.ts'
import { behindSinceStart } from '../once-current.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { ALL_API_TOKENS, API_TOKENS, apiTokensIn, apiTokenTotalsIn } from './document.ts'
import type { ApiTokenDocument } from './document.ts'

export interface ApiTokenQueryDeps {
  readonly documents: ReadDocuments
  readonly keyring: Pick<Keyring, 'open'>
}

/** What a token's name was sealed as. */
const NAMES = [`${ApiTokenIssued.type}.name`, `${ApiTokenRenamed.type}.name`]

const openTokens =
  (keyring: Pick<Keyring, 'open'>) =>
  (tokens: ReadonlyArray<ApiTokenDocument>): TaskEither<KeyringUnavailable, ReadonlyArray<ApiTokenView>> => {
    const placeOf = ({ id, userId }: ApiTokenDocument) => ({ key: userKey(userId), stream: apiTokenStream(id), members: NAMES })
    return pipe(
      keyring.open(tokens.map((token) => ({ envelope: token.name, ...placeOf(token) }))),
      TE.map((opened) => tokens.map((token, index) => ({ ...token, name: textOrErased(opened[index]) }))),
    )
  }

/** Those of all that a user ever issued that are not revoked. */
export const tokenIdsOf = ({ documents }: { readonly documents: Pick<Documents, 'page'> }): IdsOfUser =>
  idsOfUser(documents, API_TOKENS)

/** A user's own, newest first. */
export type ListTokens = (
  userId: number,
  page: PageQuery,
) => TaskEither<DocumentsUnavailable | KeyringUnavailable, Page<ApiTokenView>>

const countAll = (documents: ReadDocuments): TaskEither<DocumentsUnavailable, number> =>
  pipe(apiTokenTotalsIn(documents).get(ALL_API_TOKENS), TE.map(O.match(() => 0, ({ count }) => count)))

/** Of all users where `userId` is null. */
export const pageOfTokens =
  ({ documents, keyring }: ApiTokenQueryDeps): PageOfTokens =>
  (userId, { skip, limit }) =>
    pipe(
      userId === null ? countAll(documents) : TE.map((ids: ReadonlyArray<number>) => ids.length)(tokenIdsOf({ documents })(userId)),
      TE.chainW((total) => {
        const filter = userId === null ? {} : { userId }
        if (skip >= total) return TE.right({ items: [], total })
        return pipe(
          newestFirst(apiTokensIn(documents), filter, { skip, limit }, total),
          TE.chainW(openTokens(keyring)),
          TE.map((items) => ({ items, total })),
        )
      }),
    )

export const listTokens = (deps: ApiTokenQueryDeps): ListTokens => pageOfTokens(deps)

interface PrefixDeps {
  readonly documents: Pick<Documents, 'page'>
  /** Whether the list has not come to all that was in the log at start. */
  readonly isBehind: (collection: string) => boolean
}

/** A token that is listed is found also while the list is behind; of another one nobody can tell then. */
export const tokenIdByPrefix =
  ({ documents, isBehind }: PrefixDeps): TokenIdByPrefix =>
  (prefix) => {
    // Before it is read: the list may catch up meanwhile.
    const otherwise = isBehind(API_TOKENS) ? TE.left(behindSinceStart) : TE.right(O.none)
    const request = { filter: { prefix }, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 1 } as const
    return pipe(
      documents.page(API_TOKENS, request),
      TE.chain(([token]) => (token === undefined ? otherwise : TE.right(O.some(Number(token['id']))))),
    )
  }
