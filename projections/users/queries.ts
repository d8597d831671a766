import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { UserView } from '../../application/ports/read-models.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { UserRegistered, userKey, userStream } from '../../domain/user/events.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { ALL_USERS, userTotalsIn, usersIn } from './document.ts'
import type { UserDocument } from './document.ts'

export interface UserQueryDeps {
  readonly documents: ReadDocuments
  readonly keyring: Pick<Keyring, 'open'>
}

const openUsers =
  (keyring: Pick<Keyring, 'open'>) =>
  (users: ReadonlyArray<UserDocument>): Promise<Either<KeyringUnavailable, ReadonlyArray<UserView>>> => {
    const members = [`${UserRegistered.type}.username`]
    const placeOf = (id: number) => ({ key: userKey(id), stream: userStream(id), members })
    return pipe(
      () => keyring.open(users.map(({ id, username: envelope }) => ({ envelope, ...placeOf(id) }))),
      TE.map((opened) =>
        // Members are listed one by one, so that internal members of the document stay hidden.
        users.map(({ id, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }, index) => {
          const username = textOrErased(opened[index])
          return { id, username, permissions, maxSessions, maxTranslations, isActive, createdAt, updatedAt }
        }),
      ),
    )()
  }

/** Lists all users by ascending id, for administrators. */
export type ListUsers = (page: PageQuery) => Promise<Either<DocumentsUnavailable | KeyringUnavailable, Page<UserView>>>

export const listUsers =
  ({ documents, keyring }: UserQueryDeps): ListUsers =>
  ({ skip, limit }) =>
    pipe(
      () => userTotalsIn(documents).get(ALL_USERS),
      TE.map(O.match(() => 0, ({ count }) => count)),
      TE.chainW((total) =>
        skip >= total
          ? TE.right({ items: [], total })
          : pipe(
              () => usersIn(documents).page({ filter: {}, sort: { by: 'id', direction: 'ascending' }, skip, limit }),
              TE.chainW((value) => () => openUsers(keyring)(value)),
              TE.map((items) => ({ items, total })),
            ),
      ),
    )()
