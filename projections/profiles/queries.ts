import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ProfileView } from '../../application/ports/read-models.ts'
import { ProfileAdded, ProfileChanged, profilesStream } from '../../domain/profiles/events.ts'
import { openedVocabulary } from '../../domain/live/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { type Envelope, ERASED } from '../../domain/shared/event.ts'
import { userKey } from '../../domain/user/events.ts'
import type { QueryDeps, ReadDocuments } from '../typed-documents.ts'
import { type ProfilesDocument, profilesIn } from './document.ts'

type Unavailable = DocumentsUnavailable | KeyringUnavailable
type Sealed = ReadonlyArray<ProfilesDocument['profiles'][number]>

/** Returns the event members that can have sealed a member of a profile. */
const sealedAs = (member: 'name' | 'vocabulary'): ReadonlyArray<string> =>
  [ProfileAdded, ProfileChanged].map(({ type }) => `${type}.${member}`)

const profilesOf = async (documents: ReadDocuments, userId: number): Promise<Either<DocumentsUnavailable, Sealed>> =>
  pipe(
    await profilesIn(documents).get(String(userId)),
    E.map(O.match((): Sealed => [], ({ profiles }) => profiles)),
  )

const openProfiles =
  (keyring: Pick<Keyring, 'open'>, userId: number) =>
  async (profiles: Sealed): Promise<Either<KeyringUnavailable, ReadonlyArray<ProfileView>>> => {
    const place = { key: userKey(userId), stream: profilesStream(userId) }
    const sealed = profiles.flatMap(({ name, vocabulary }) => [
      { envelope: name, members: sealedAs('name'), ...place },
      ...(vocabulary === undefined ? [] : [{ envelope: vocabulary, members: sealedAs('vocabulary'), ...place }]),
    ])
    const opened = await keyring.open(sealed)
    if (E.isLeft(opened)) return opened
    const texts = new Map(sealed.map(({ envelope }, index) => [envelope, textOrErased(opened.right[index])]))
    const textOf = (envelope: Envelope): string => texts.get(envelope) ?? ERASED
    return E.right(profiles.map(({ name, vocabulary, ...facts }) => ({
      ...facts,
      name: textOf(name),
      ...(vocabulary && { vocabulary: openedVocabulary(textOf(vocabulary)) }),
    })))
  }

/** Words can have 40 kB for each profile, so lists leave them out. */
const withoutWords = ({ id, name, settings, createdAt, updatedAt }: Sealed[number]): Sealed[number] =>
  ({ id, name, settings, createdAt, updatedAt })

/** Lists the profiles of a user by ascending id, without vocabulary. */
export type ListProfiles = (userId: number, page: PageQuery) => Promise<Either<Unavailable, Page<ProfileView>>>

export const listProfiles =
  ({ documents, keyring }: QueryDeps): ListProfiles =>
  async (userId, { skip, limit }) => {
    const all = await profilesOf(documents, userId)
    if (E.isLeft(all)) return all
    const opened = await openProfiles(keyring, userId)(all.right.slice(skip, skip + limit).map(withoutWords))
    return pipe(opened, E.map((items) => ({ items, total: all.right.length })))
  }

/** Reads one profile of a user. Profiles of other users are not found. */
export type GetProfile = (userId: number, profileId: number) => Promise<Either<Unavailable, Option<ProfileView>>>

export const getProfile =
  ({ documents, keyring }: QueryDeps): GetProfile =>
  async (userId, profileId) => {
    const all = await profilesOf(documents, userId)
    if (E.isLeft(all)) return all
    const opened = await openProfiles(keyring, userId)(all.right.filter(({ id }) => id === profileId))
    return pipe(opened, E.map(([profile]) => O.fromNullable(profile)))
  }
