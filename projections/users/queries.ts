import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type {
  Document, Documents, DocumentsUnavailable, Page, PageQuery,
} from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { UserView } from '../../application/ports/read-models.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { UserRegistered, userKey, userStream } from '../../domain/user/events.ts'
import { USERS } from './document.ts'
import type { UserDocument } from './document.ts'

export interface UserQueryDeps {
  readonly documents: Pick<Documents, 'page'>
  readonly keyring: Pick<Keyring, 'open'>
  /** How many users there are. */
  readonly count: () => number
}

type Failure = DocumentsUnavailable | KeyringUnavailable

// A collection holds what its projection alone wrote into it, so its type is the projection's.
const asUser = (document: Document): UserDocument => document as unknown as UserDocument

const openUsers =
  (keyring: Pick<Keyring, 'open'>) =>
  (users: ReadonlyArray<UserDocument>): TaskEither<Failure, ReadonlyArray<UserView>> =>
  async () => {
    const members = [`${UserRegistered.type}.username`]
    const placeOf = (id: number) => ({ key: userKey(id), stream: userStream(id), members })
    const opened = await keyring.open(users.map(({ id, username: envelope }) => ({ envelope, ...placeOf(id) })))()
    if (E.isLeft(opened)) return opened
    return E.right(
      users.map(({ id, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }, index) => {
        const username = textOrErased(opened.right[index])
        return { id, username, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }
      }),
    )
  }

/** For administrators: by id, ascending. */
export type ListUsers = (page: PageQuery) => TaskEither<Failure, Page<UserView>>

export const listUsers =
  ({ documents, keyring, count }: UserQueryDeps): ListUsers =>
  ({ skip, limit }) =>
  async () => {
    const total = count()
    if (skip >= total) return E.right({ items: [], total })
    const found = await documents.page(USERS, { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip, limit })()
    if (E.isLeft(found)) return found
    const items = await openUsers(keyring)(found.right.map(asUser))()
    return E.isLeft(items) ? items : E.right({ items: items.right, total })
  }
