import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveStream } from '../../../domain/live/events.ts'
import type { Caller } from '../../caller.ts'
import type { EntryNotFound, LiveNotFound, Unavailable } from '../../errors.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { EventStore, StoredEvent } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import type { LiveView, ViewOf } from '../../ports/read-models.ts'
import { findOwnedLive } from '../owned-live.ts'
import type { OwnedLive } from '../owned-live.ts'
import { historyEntries, MASK, ofOwner } from './history-entries.ts'
import type { HistoryEntry, UrlMask } from './history-entries.ts'

/** What happened to a live of the caller's, oldest first. */
export type GetHistory = (
  caller: Caller,
  liveId: number,
  page: PageQuery,
) => TaskEither<LiveNotFound | Unavailable, Page<HistoryEntry>>

/** One event of a live, and how the live stood after it. */
export interface PastLive<State> {
  readonly entry: HistoryEntry
  readonly state: State
}

/** Of a live of the caller's, its tokens masked. `entryId` is its place in the history. */
export type GetHistoryEntry = (
  caller: Caller,
  liveId: number,
  entryId: number,
) => TaskEither<LiveNotFound | EntryNotFound | Unavailable, PastLive<LiveView>>

export interface GetHistoryDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly keyring: Pick<Keyring, 'open'>
}

/** A page of the stream of a live, whoever may see it. */
export const pageOfHistory =
  ({ store, keyring }: GetHistoryDeps, urlMask: UrlMask) =>
  (
    liveId: number,
    { revision }: Pick<OwnedLive, 'revision'>,
    { skip, limit }: PageQuery,
  ): TaskEither<Unavailable, Page<HistoryEntry>> =>
  async () => {
    const total = revision + 1
    if (skip >= total) return E.right({ items: [], total })
    const stored = await store.read(liveStream(liveId), { from: skip, limit: Math.min(limit, total - skip) })()
    if (E.isLeft(stored)) return stored
    const entries = await historyEntries(keyring)(stored.right, urlMask)()
    return E.map((items: ReadonlyArray<HistoryEntry>) => ({ items, total }))(entries)
  }

/** An entry and all events up to it, from which its state is folded. */
export const entryOfHistory =
  ({ store, keyring }: GetHistoryDeps, urlMask: UrlMask) =>
  (
    liveId: number,
    { revision }: Pick<OwnedLive, 'revision'>,
    entryId: number,
  ): TaskEither<EntryNotFound | Unavailable, PastLive<ReadonlyArray<StoredEvent>>> =>
  async () => {
    const isThere = Number.isSafeInteger(entryId) && entryId >= 1 && entryId <= revision + 1
    if (!isThere) return E.left({ _tag: 'EntryNotFound' })
    const stored = await store.read(liveStream(liveId), { limit: entryId })()
    if (E.isLeft(stored)) return stored
    const shown = await historyEntries(keyring)(stored.right.slice(entryId - 1), urlMask)()
    if (E.isLeft(shown)) return shown
    const [entry] = shown.right
    return entry === undefined ? E.left({ _tag: 'EntryNotFound' }) : E.right({ entry, state: stored.right })
  }

/** Straight from the live's stream. */
export const getHistory = (deps: GetHistoryDeps): GetHistory => {
  const find = findOwnedLive(deps.store)
  const pageOf = pageOfHistory(deps, ofOwner)
  return (caller, liveId, page) => async () => {
    const live = await find(caller, liveId)()
    return E.isLeft(live) ? live : await pageOf(liveId, live.right, page)()
  }
}

/** By the fold that makes the lists, up to that event. */
export const getHistoryEntry = (deps: GetHistoryDeps & { readonly viewOf: ViewOf }): GetHistoryEntry => {
  const find = findOwnedLive(deps.store)
  const entryOf = entryOfHistory(deps, ofOwner)
  return (caller, liveId, entryId) => async () => {
    const live = await find(caller, liveId)()
    if (E.isLeft(live)) return live
    const past = await entryOf(liveId, live.right, entryId)()
    if (E.isLeft(past)) return past
    const { entry, state: events } = past.right
    const view = await deps.viewOf(events)()
    return E.map((state: LiveView) => ({ entry, state: { ...state, senderToken: MASK, listenerToken: MASK } }))(view)
  }
}
