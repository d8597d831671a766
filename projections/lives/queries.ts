import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { StoreUnavailable } from '../../application/ports/event-store.ts'
import {
  type AllLivesQuery, type FactsOfLive, type IdsOfUser, LIVE_STATUSES, type LiveFacts, type LiveStatus, type LiveView,
  type PageOfAllLives, type UnlistedLive,
} from '../../application/ports/read-models.ts'
import { countLives } from '../live-counts/queries.ts'
import { idsOfUser } from '../ids-of-user.ts'
import { newestFirst } from '../newest-first.ts'
import type { QueryDeps, ReadDocuments } from '../typed-documents.ts'
import { type LiveDocument, LIVES, livesIn } from './document.ts'
import { factsOf, openLive, openLives } from './view.ts'

export interface OneLiveDeps {
  readonly documents: ReadDocuments
  readonly unlistedLive: UnlistedLive
}

type Unavailable = DocumentsUnavailable | KeyringUnavailable

/** Null: the list does not show the session. It may lag behind the log or be unavailable. */
const listedLive = async (documents: ReadDocuments, liveId: number): Promise<LiveDocument | null> => {
  const listed = await livesIn(documents).get(String(liveId))
  return E.isRight(listed) ? O.toNullable(listed.right) : null
}

/** Reads one session of a user. Another user's session is reported like an unknown session. */
export type GetLive = (
  userId: number, liveId: number,
) => Promise<Either<StoreUnavailable | KeyringUnavailable, Option<LiveView>>>

export const getLive =
  ({ documents, keyring, unlistedLive }: QueryDeps & OneLiveDeps): GetLive =>
  async (userId, liveId) => {
    const isOwn = (live: LiveFacts): boolean => live.userId === userId
    const listed = await listedLive(documents, liveId)
    if (listed === null) return pipe(await unlistedLive(liveId), E.map(O.filter(isOwn)))
    return isOwn(listed) ? pipe(await openLive(keyring)(listed), E.map(O.some)) : E.right(O.none)
  }

type PageOfLives = (query: AllLivesQuery, page: PageQuery) => Promise<Either<DocumentsUnavailable, Page<LiveDocument>>>

const pageOfLives =
  (documents: ReadDocuments): PageOfLives =>
  async ({ userId, statuses: requested }, { skip, limit }) => {
    // Ignores duplicate statuses. An empty list means all statuses.
    const statuses = LIVE_STATUSES.filter((status) => requested.length === 0 || requested.includes(status))
    const everyStatus = statuses.length === LIVE_STATUSES.length
    const filter = { ...(userId === null ? {} : { userId }), ...(everyStatus ? {} : { status: statuses }) }
    const counted = await countLives(documents)(userId, statuses)
    if (E.isLeft(counted)) return counted
    const total = counted.right
    if (skip >= total) return E.right({ items: [], total })
    const found = await newestFirst(livesIn(documents), filter, { skip, limit }, total, ['vocabulary'])
    return pipe(found, E.map((items) => ({ items, total })))
  }

/** Lists a user's sessions without vocabulary, newest first. An empty list of statuses means all statuses. */
export type ListLives = (
  userId: number,
  statuses: ReadonlyArray<LiveStatus>,
  page: PageQuery,
) => Promise<Either<Unavailable, Page<LiveView>>>

export const listLives =
  ({ documents, keyring }: QueryDeps): ListLives =>
  async (userId, statuses, page) => {
    const found = await pageOfLives(documents)({ userId, statuses }, page)
    if (E.isLeft(found)) return found
    const { items, total } = found.right
    return pipe(await openLives(keyring)(items), E.map((views) => ({ items: views, total })))
  }

export const pageOfAllLives =
  ({ documents }: Pick<QueryDeps, 'documents'>): PageOfAllLives =>
  async (query, page) =>
    pipe(
      await pageOfLives(documents)(query, page),
      E.map(({ items, total }) => ({ items: items.map(factsOf), total })),
    )

export const factsOfLive =
  ({ documents, unlistedLive }: OneLiveDeps): FactsOfLive =>
  async (liveId) => {
    const listed = await listedLive(documents, liveId)
    return listed === null ? pipe(await unlistedLive(liveId), E.map(O.map(factsOf))) : E.right(O.some(factsOf(listed)))
  }

/** Returns the ids of a user's sessions that are not deleted. */
export const liveIdsOf = ({ documents }: Pick<QueryDeps, 'documents'>): IdsOfUser => idsOfUser(documents, LIVES)
