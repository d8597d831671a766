import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { DocumentsUnavailable, Page, PageQuery } from '../../application/ports/documents.ts'
import type { Keyring, KeyringUnavailable } from '../../application/ports/keyring.ts'
import type { EventStore, LogCorrupted, StoreUnavailable } from '../../application/ports/event-store.ts'
import { LIVE_STATUSES } from '../../application/ports/read-models.ts'
import type {
  AllLivesQuery, FactsOfLive, IdsOfUser, LiveStatus, LiveView, PageOfAllLives,
} from '../../application/ports/read-models.ts'
import { LiveDeleted, liveStream } from '../../domain/live/events.ts'
import { countLives } from '../live-counts/queries.ts'
import { idsOfUser } from '../ids-of-user.ts'
import { newestFirst } from '../newest-first.ts'
import type { ReadDocuments } from '../typed-documents.ts'
import { LIVES, livesIn } from './document.ts'
import type { LiveDocument } from './document.ts'
import { foldLive } from './projection.ts'
import { factsOf, openLive, openLives } from './view.ts'

export interface LiveQueryDeps {
  readonly documents: ReadDocuments
  readonly keyring: Pick<Keyring, 'open'>
}

export interface OneLiveDeps {
  readonly documents: ReadDocuments
  readonly store: Pick<EventStore, 'read'>
}

type Unavailable = DocumentsUnavailable | KeyringUnavailable
type LogUnreadable = StoreUnavailable | LogCorrupted

const unlistedLive =
  (store: Pick<EventStore, 'read'>) =>
  async (liveId: number): Promise<Either<LogUnreadable, Option<LiveDocument>>> => {
    // A deleted session may have many events, which need not be read.
    const newest = await store.read(liveStream(liveId), { direction: 'backwards', limit: 1 })
    if (E.isLeft(newest)) return newest
    if (newest.right[0]?.type === LiveDeleted.type) return E.right(O.none)
    return pipe(await store.read(liveStream(liveId)), E.map((events) => O.fromNullable(foldLive(events))))
  }

/**
 * Reads a session from the list. The list may lag behind the log or be unavailable, so a session that it does not show
 * is folded from its own stream.
 */
const oneLive =
  ({ documents, store }: OneLiveDeps) =>
  async (liveId: number): Promise<Either<LogUnreadable, Option<LiveDocument>>> => {
    const listed = await livesIn(documents).get(String(liveId))
    return E.isRight(listed) && O.isSome(listed.right) ? listed : await unlistedLive(store)(liveId)
  }

/** Reads one session of a user. */
export type GetLive = (userId: number, liveId: number) => Promise<Either<LogUnreadable | Unavailable, Option<LiveView>>>

export const getLive =
  ({ keyring, ...deps }: LiveQueryDeps & OneLiveDeps): GetLive =>
  async (userId, liveId) => {
    const found = await oneLive(deps)(liveId)
    if (E.isLeft(found)) return found
    // Another user's session is reported like an unknown session.
    if (O.isNone(found.right) || found.right.value.userId !== userId) return E.right(O.none)
    return pipe(await openLive(keyring)(found.right.value), E.map(O.some))
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
  ({ documents, keyring }: LiveQueryDeps): ListLives =>
  async (userId, statuses, page) => {
    const found = await pageOfLives(documents)({ userId, statuses }, page)
    if (E.isLeft(found)) return found
    const { items, total } = found.right
    return pipe(await openLives(keyring)(items), E.map((views) => ({ items: views, total })))
  }

export const pageOfAllLives =
  ({ documents }: Pick<LiveQueryDeps, 'documents'>): PageOfAllLives =>
  async (query, page) =>
    pipe(
      await pageOfLives(documents)(query, page),
      E.map(({ items, total }) => ({ items: items.map(factsOf), total })),
    )

export const factsOfLive =
  (deps: OneLiveDeps): FactsOfLive =>
  async (liveId) =>
    pipe(await oneLive(deps)(liveId), E.map(O.map(factsOf)))

/** Returns the ids of a user's sessions that are not deleted. */
export const liveIdsOf = ({ documents }: Pick<LiveQueryDeps, 'documents'>): IdsOfUser => idsOfUser(documents, LIVES)
