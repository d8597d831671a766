import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { UserView } from '../../application/ports/read-models.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { UserRegistered, userKey, userStream } from '../../domain/user/events.ts'
import { totalOf } from '../totals.ts'
import type { QueryDeps } from '../typed-documents.ts'
import { USER_TOTALS, type UserDocument, usersIn } from './document.ts'

const openUsers =
  (keyring: Pick<Keyring, 'open'>) =>
  async (users: ReadonlyArray<UserDocument>): Promise<Either<KeyringUnavailable, ReadonlyArray<UserView>>> => {
    const members = [`${UserRegistered.type}.username`]
    const placeOf = (id: number) => ({ key: userKey(id), stream: userStream(id), members })
    const names = await keyring.open(users.map(({ id, username: envelope }) => ({ envelope, ...placeOf(id) })))
    return pipe(
      names,
      E.map((opened) =>
        // Members are listed one by one, so that internal members of the document stay hidden.
        users.map(({ id, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }, index) => {
          const username = textOrErased(opened[index])
          return { id, username, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }
        }),
      ),
    )
  }

/** Lists all users by ascending id, for administrators. */
export type ListUsers = (page: PageQuery) => Promise<Either<DocumentsUnavailable | KeyringUnavailable, Page<UserView>>>

export const listUsers =
  ({ documents, keyring }: QueryDeps): ListUsers =>
  async ({ skip, limit }) => {
    const counted = await totalOf(documents, USER_TOTALS)
    if (E.isLeft(counted)) return counted
    const total = counted.right
    if (skip >= total) return E.right({ items: [], total })
    const users = await usersIn(documents).page({ filter: {}, sort: { by: 'id', direction: 'ascending' }, skip, limit })
    if (E.isLeft(users)) return users
    return pipe(await openUsers(keyring)(users.right), E.map((items) => ({ items, total })))
  }
