import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Documents, DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { ProfileView } from '../../application/ports/read-models.ts'
import { ProfileAdded, ProfileChanged, profilesStream } from '../../domain/profiles/events.ts'
import { textOrErased } from '../../domain/shared/erased.ts'
import { userKey } from '../../domain/user/events.ts'
import { PROFILES } from './document.ts'
import type { ProfilesDocument } from './document.ts'

export interface ProfileQueryDeps {
  readonly documents: Pick<Documents, 'get'>
  readonly keyring: Pick<Keyring, 'open'>
}

type Failure = DocumentsUnavailable | KeyringUnavailable
type Sealed = ProfilesDocument['profiles'][number]

/** What a profile's name was sealed as. */
const NAMES = [`${ProfileAdded.type}.name`, `${ProfileChanged.type}.name`]

const sealedOf =
  ({ documents }: ProfileQueryDeps, userId: number): TaskEither<Failure, ReadonlyArray<Sealed>> =>
  async () => {
    const found = await documents.get(PROFILES, String(userId))()
    if (E.isLeft(found)) return found
    // A collection holds what its projection alone wrote into it, so its type is the projection's.
    return E.right(O.isSome(found.right) ? (found.right.value as unknown as ProfilesDocument).profiles : [])
  }

const openAll =
  ({ keyring }: ProfileQueryDeps, userId: number) =>
  (sealed: ReadonlyArray<Sealed>): TaskEither<Failure, ReadonlyArray<ProfileView>> =>
  async () => {
    const place = { key: userKey(userId), stream: profilesStream(userId), members: NAMES }
    const opened = await keyring.open(sealed.map(({ name: envelope }) => ({ envelope, ...place })))()
    if (E.isLeft(opened)) return opened
    return E.right(sealed.map((profile, index) => ({ ...profile, name: textOrErased(opened.right[index]) })))
  }

/** A user's own, by id, ascending. */
export type ListProfiles = (userId: number, page: PageQuery) => TaskEither<Failure, Page<ProfileView>>

export const listProfiles =
  (deps: ProfileQueryDeps): ListProfiles =>
  (userId, { skip, limit }) =>
  async () => {
    const sealed = await sealedOf(deps, userId)()
    if (E.isLeft(sealed)) return sealed
    const items = await openAll(deps, userId)(sealed.right.slice(skip, skip + limit))()
    return E.isLeft(items) ? items : E.right({ items: items.right, total: sealed.right.length })
  }

/** None of another user's. */
export type GetProfile = (userId: number, profileId: number) => TaskEither<Failure, Option<ProfileView>>

export const getProfile =
  (deps: ProfileQueryDeps): GetProfile =>
  (userId, profileId) =>
  async () => {
    const sealed = await sealedOf(deps, userId)()
    if (E.isLeft(sealed)) return sealed
    const opened = await openAll(deps, userId)(sealed.right.filter(({ id }) => id === profileId))()
    return E.isLeft(opened) ? opened : E.right(O.fromNullable(opened.right[0]))
  }
