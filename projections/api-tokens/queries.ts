import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Documents, DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ApiTokenView, IdsOfUser, TokenIdByPrefix } from '../../application/ports/read-models.ts'
import { ApiTokenIssued, ApiTokenRenamed, apiTokenStream } from '../../domain/api-token/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { userKey } from '../../domain/user/events.ts'
import { idsOfUser } from '../ids-of-user.ts'
import { behindSinceStart } from '../once-current.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { API_TOKENS, apiTokensIn } from './document.ts'
import type { ApiTokenDocument } from './document.ts'

export interface ApiTokenQueryDeps {
  readonly documents: ReadDocuments
  readonly keyring: Pick<Keyring, 'open'>
}

/** What a token's name was sealed as. */
const NAMES = [`${ApiTokenIssued.type}.name`, `${ApiTokenRenamed.type}.name`]

const openTokens =
  (keyring: Pick<Keyring, 'open'>, userId: number) =>
  (tokens: ReadonlyArray<ApiTokenDocument>): TaskEither<KeyringUnavailable, ReadonlyArray<ApiTokenView>> => {
    const placeOf = (id: number) => ({ key: userKey(userId), stream: apiTokenStream(id), members: NAMES })
    return pipe(
      keyring.open(tokens.map(({ id, name: envelope }) => ({ envelope, ...placeOf(id) }))),
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

export const listTokens =
  ({ documents, keyring }: ApiTokenQueryDeps): ListTokens =>
  (userId, { skip, limit }) =>
    pipe(
      tokenIdsOf({ documents })(userId),
      TE.chainW(({ length: total }) =>
        skip >= total
          ? TE.right({ items: [], total })
          : pipe(
              apiTokensIn(documents).page({
                filter: { userId }, sort: { by: 'id', direction: 'descending' }, skip, limit,
              }),
              TE.chainW(openTokens(keyring, userId)),
              TE.map((items) => ({ items, total })),
            ),
      ),
    )

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
