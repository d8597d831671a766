import { pipe } from 'fp-ts/lib/function.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
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
  (liveId: number): Promise<Either<LogUnreadable, Option<LiveDocument>>> =>
    pipe(
      // A deleted session may have many events, which need not be read.
      () => store.read(liveStream(liveId), { direction: 'backwards', limit: 1 }),
      TE.chain(([last]) => (last?.type === LiveDeleted.type ? TE.right([]) : () => store.read(liveStream(liveId)))),
      TE.map((events) => O.fromNullable(foldLive(events))),
    )()

/**
 * Reads a session from the list. The list may lag behind the log or be unavailable, so a session that it does not show
 * is folded from its own stream.
 */
const oneLive =
  ({ documents, store }: OneLiveDeps) =>
  (liveId: number): Promise<Either<LogUnreadable, Option<LiveDocument>>> =>
    pipe(
      () => livesIn(documents).get(String(liveId)),
      TE.orElse(() => TE.right<never, Option<LiveDocument>>(O.none)),
      TE.chain(O.match(() => () => unlistedLive(store)(liveId), (live) => TE.right(O.some(live)))),
    )()

/** Reads one session of a user. */
export type GetLive = (userId: number, liveId: number) => Promise<Either<LogUnreadable | Unavailable, Option<LiveView>>>

export const getLive =
  ({ keyring, ...deps }: LiveQueryDeps & OneLiveDeps): GetLive =>
  (userId, liveId) =>
    pipe(
      () => oneLive(deps)(liveId),
      // Another user's session is reported like an unknown session.
      TE.map(O.filter((live) => live.userId === userId)),
      TE.chainW(O.traverse(TE.ApplicativeSeq)((value) => () => openLive(keyring)(value))),
    )()

type PageOfLives = (query: AllLivesQuery, page: PageQuery) => Promise<Either<DocumentsUnavailable, Page<LiveDocument>>>

const pageOfLives =
  (documents: ReadDocuments): PageOfLives =>
  ({ userId, statuses: requested }, { skip, limit }) => {
    // Ignores duplicate statuses. An empty list means all statuses.
    const statuses = LIVE_STATUSES.filter((status) => requested.length === 0 || requested.includes(status))
    const everyStatus = statuses.length === LIVE_STATUSES.length
    const filter = { ...(userId === null ? {} : { userId }), ...(everyStatus ? {} : { status: statuses }) }
    return pipe(
      TE.Do,
      TE.bind('total', () => () => countLives(documents)(userId, statuses)),
      TE.bind('items', ({ total }) =>
        skip < total ? () =>
          newestFirst(livesIn(documents), filter, { skip, limit }, total, ['vocabulary']) : TE.right([]),
      ),
    )()
  }

/** Lists a user's sessions without vocabulary, newest first. An empty list of statuses means all statuses. */
export type ListLives = (
  userId: number,
  statuses: ReadonlyArray<LiveStatus>,
  page: PageQuery,
) => Promise<Either<Unavailable, Page<LiveView>>>

export const listLives =
  ({ documents, keyring }: LiveQueryDeps): ListLives =>
  (userId, statuses, page) =>
    pipe(
      () => pageOfLives(documents)({ userId, statuses }, page),
      TE.chainW(({ items, total }) =>
        pipe(() => openLives(keyring)(items), TE.map((views) => ({ items: views, total })))),
    )()

export const pageOfAllLives =
  ({ documents }: Pick<LiveQueryDeps, 'documents'>): PageOfAllLives =>
  (query, page) =>
    pipe(() =>
      pageOfLives(documents)(query, page), TE.map(({ items, total }) => ({ items: items.map(factsOf), total })))()

export const factsOfLive =
  (deps: OneLiveDeps): FactsOfLive =>
  (liveId) =>
    pipe(() => oneLive(deps)(liveId), TE.map(O.map(factsOf)))()

/** Returns the ids of a user's sessions that are not deleted. */
export const liveIdsOf = ({ documents }: Pick<LiveQueryDeps, 'documents'>): IdsOfUser => idsOfUser(documents, LIVES)
