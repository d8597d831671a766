import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ProfileView } from '../../application/ports/read-models.ts'
import { ProfileAdded, ProfileChanged, profilesStream } from '../../domain/profiles/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { userKey } from '../../domain/user/events.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { profilesIn } from './document.ts'
import type { ProfilesDocument } from './document.ts'

export interface ProfileQueryDeps {
  readonly documents: ReadDocuments
  readonly keyring: Pick<Keyring, 'open'>
}

type Unavailable = DocumentsUnavailable | KeyringUnavailable
type Sealed = ReadonlyArray<ProfilesDocument['profiles'][number]>

/** What a profile's name was sealed as. */
const NAMES = [`${ProfileAdded.type}.name`, `${ProfileChanged.type}.name`]

const profilesOf = (documents: ReadDocuments, userId: number): TaskEither<DocumentsUnavailable, Sealed> =>
  pipe(
    profilesIn(documents).get(String(userId)),
    TE.map(O.match((): Sealed => [], ({ profiles }) => profiles)),
  )

const openProfiles =
  (keyring: Pick<Keyring, 'open'>, userId: number) =>
  (profiles: Sealed): TaskEither<KeyringUnavailable, ReadonlyArray<ProfileView>> => {
    const place = { key: userKey(userId), stream: profilesStream(userId), members: NAMES }
    return pipe(
      keyring.open(profiles.map(({ name: envelope }) => ({ envelope, ...place }))),
      TE.map((opened) => profiles.map((profile, index) => ({ ...profile, name: textOrErased(opened[index]) }))),
    )
  }

/** A user's own, by id, ascending. */
export type ListProfiles = (userId: number, page: PageQuery) => TaskEither<Unavailable, Page<ProfileView>>

export const listProfiles =
  ({ documents, keyring }: ProfileQueryDeps): ListProfiles =>
  (userId, { skip, limit }) =>
    pipe(
      TE.Do,
      TE.bind('all', () => profilesOf(documents, userId)),
      TE.bindW('items', ({ all }) => openProfiles(keyring, userId)(all.slice(skip, skip + limit))),
      TE.map(({ all, items }) => ({ items, total: all.length })),
    )

/** None of another user's. */
export type GetProfile = (userId: number, profileId: number) => TaskEither<Unavailable, Option<ProfileView>>

export const getProfile =
  ({ documents, keyring }: ProfileQueryDeps): GetProfile =>
  (userId, profileId) =>
    pipe(
      profilesOf(documents, userId),
      TE.map((all) => all.filter(({ id }) => id === profileId)),
      TE.chainW(openProfiles(keyring, userId)),
      TE.map(([profile]) => O.fromNullable(profile)),
    )
