import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { UserRegistered, userKey, userStream } from '../domain/user/events.ts'
import type { Unavailable } from './errors.ts'
import { textOrErased } from '../domain/shared/erased.ts'
import type { Document, Documents } from './ports/documents.ts'
import type { Keyring } from './ports/keyring.ts'
import { USERS } from './ports/read-models.ts'
import type { UserDocument, UserView } from './ports/read-models.ts'
import type { Services } from './services.ts'
import type { Page, PageQuery } from './ports/documents.ts'
import type { UserDirectory } from './users/policies/user-directory.ts'

export interface QueryDeps {
  readonly documents: Pick<Documents, 'page'>
  readonly keyring: Pick<Keyring, 'open'>
  readonly directory: Pick<UserDirectory, 'count'>
}

type Queries = Pick<Services, 'listUsers'>

// A collection holds what its projection alone wrote into it, so its type is the projection's.
const asUser = (document: Document): UserDocument => document as unknown as UserDocument

const openUsers =
  (keyring: Pick<Keyring, 'open'>) =>
  (users: ReadonlyArray<UserDocument>): TaskEither<Unavailable, ReadonlyArray<UserView>> =>
  async () => {
    const members = [`${UserRegistered.type}.username`]
    const sealed = users.map(({ id, username: envelope }) => ({ envelope, key: userKey(id), stream: userStream(id), members }))
    const opened = await keyring.open(sealed)()
    if (E.isLeft(opened)) return opened
    return E.right(
      users.map(({ id, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }, index) => {
        const username = textOrErased(opened.right[index])
        return { id, username, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }
      }),
    )
  }

/** What the read models answer. */
export const createQueries = ({ documents, keyring, directory }: QueryDeps): Queries => {
  const listUsers = ({ skip, limit }: PageQuery): TaskEither<Unavailable, Page<UserView>> => async () => {
    const total = directory.count()
    if (skip >= total) return E.right({ items: [], total })
    const found = await documents.page(USERS, { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip, limit })()
    if (E.isLeft(found)) return found
    const items = await openUsers(keyring)(found.right.map(asUser))()
    return E.isLeft(items) ? items : E.right({ items: items.right, total })
  }

  return { listUsers }
}
