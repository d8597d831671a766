import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Documents, DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ApiTokenView, IdsOfUser } from '../../application/ports/read-models.ts'
import { ApiTokenIssued, ApiTokenRenamed, apiTokenStream } from '../../domain/api-token/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { userKey } from '../../domain/user/events.ts'
import { idsOfUser } from '../ids-of-user.ts'
import { API_TOKENS } from './document.ts'
import type { ApiTokenDocument } from './document.ts'

export interface ApiTokenQueryDeps {
  readonly documents: Pick<Documents, 'page'>
  readonly keyring: Pick<Keyring, 'open'>
  /** How many API tokens a user has. */
  readonly countOf: (userId: number) => number
}

/** What a token's name was sealed as. */
const NAMES = [`${ApiTokenIssued.type}.name`, `${ApiTokenRenamed.type}.name`]

/** A user's own, newest first. */
export type ListTokens = (
  userId: number,
  page: PageQuery,
) => TaskEither<DocumentsUnavailable | KeyringUnavailable, Page<ApiTokenView>>

export const listTokens =
  ({ documents, keyring, countOf }: ApiTokenQueryDeps): ListTokens =>
  (userId, { skip, limit }) =>
  async () => {
    const total = countOf(userId)
    if (skip >= total) return E.right({ items: [], total })
    const request = { filter: { userId }, sort: { by: 'id', direction: 'descending' }, skip, limit } as const
    const found = await documents.page(API_TOKENS, request)()
    if (E.isLeft(found)) return found
    // A collection holds what its projection alone wrote into it, so its type is the projection's.
    const sealed = found.right.map((document) => document as unknown as ApiTokenDocument)
    const key = userKey(userId)
    const placeOf = (id: number) => ({ key, stream: apiTokenStream(id), members: NAMES })
    const names = await keyring.open(sealed.map(({ id, name: envelope }) => ({ envelope, ...placeOf(id) })))()
    if (E.isLeft(names)) return names
    const items = sealed.map((token, index) => ({ ...token, name: textOrErased(names.right[index]) }))
    return E.right({ items, total })
  }

/** Those of all that a user ever issued that are not revoked. */
export const tokenIdsOf = ({ documents }: Pick<ApiTokenQueryDeps, 'documents'>): IdsOfUser => idsOfUser(documents, API_TOKENS)
