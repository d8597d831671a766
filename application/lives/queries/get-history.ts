import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { liveStream } from '../../../domain/live/events.ts'
import { exists, type Live } from '../../../domain/live/state.ts'
import type { Caller } from '../../caller.ts'
import { ROWS_AT_ONCE, yieldToOthers } from '../../concurrency.ts'
import type { EntryNotFound, LiveNotFound, Unavailable } from '../../refusals.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { LoadDeps } from '../../log/states/load-state.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { viewOf } from './live-view.ts'
import { loadLive } from '../load-live.ts'
import { findOwnedLive, type OwnedLive } from '../owned-live.ts'
import { historyEntries, type HistoryEntry, MASK, maskForOwner, type UrlMask } from './history-entries.ts'

/** Returns the events of a session of the caller, oldest first. */
export type GetHistory = (
  caller: Caller,
  liveId: number,
  page: PageQuery,
) => Promise<Either<LiveNotFound | Unavailable, Page<HistoryEntry>>>

/** One event of a session, and the state of the session after it. */
export interface PastLive<State> {
  readonly entry: HistoryEntry
  readonly state: State
}

/** Returns one event of a session of the caller, and the session after it with masked tokens. `entryId` starts at 1. */
export type GetHistoryEntry = (
  caller: Caller,
  liveId: number,
  entryId: number,
) => Promise<Either<LiveNotFound | EntryNotFound | Unavailable, PastLive<LiveView>>>

/** Reads a page of the history. The caller has already checked the access. */
export const readHistoryPage =
  ({ store, keyring }: LoadDeps, urlMask: UrlMask) =>
  async (
    liveId: number,
    { revision }: Pick<OwnedLive, 'revision'>,
    { skip, limit }: PageQuery,
  ): Promise<Either<Unavailable, Page<HistoryEntry>>> => {
    const total = revision + 1
    const end = Math.min(skip + limit, total)
    const items: Array<HistoryEntry> = []
    for (let from = skip; from < end; from += ROWS_AT_ONCE) {
      const stored = await store.read(liveStream(liveId), { from, limit: Math.min(ROWS_AT_ONCE, end - from) })
      if (E.isLeft(stored)) return stored
      const entries = await historyEntries(keyring)(stored.right, urlMask)
      if (E.isLeft(entries)) return entries
      items.push(...entries.right)
      await yieldToOthers()
    }
    return E.right({ items, total })
  }

export const readHistoryEntry =
  (deps: LoadDeps, urlMask: UrlMask) =>
  async (
    liveId: number,
    { revision: last }: Pick<OwnedLive, 'revision'>,
    entryId: number,
  ): Promise<Either<EntryNotFound | LiveNotFound | Unavailable, PastLive<Live>>> => {
    const revision = entryId - 1
    const isInRange = Number.isSafeInteger(entryId) && revision >= 0 && revision <= last
    if (!isInRange) return E.left({ _tag: 'EntryNotFound' })
    const stored = await deps.store.read(liveStream(liveId), { from: revision, limit: 1 })
    if (E.isLeft(stored)) return stored
    const shown = await historyEntries(deps.keyring)(stored.right, urlMask)
    if (E.isLeft(shown)) return shown
    const [entry] = shown.right
    if (entry === undefined) return E.left({ _tag: 'EntryNotFound' })
    const loaded = await loadLive(deps, liveId, revision)
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    return exists(state) ? E.right({ entry, state }) : E.left({ _tag: 'LiveNotFound' })
  }

/** Reads the session's stream itself, not a read model. */
export const getHistory = (deps: LoadDeps): GetHistory => {
  const find = findOwnedLive(deps.store)
  const readPage = readHistoryPage(deps, maskForOwner)
  return async (caller, liveId, page) => {
    const live = await find(caller, liveId)
    return E.isLeft(live) ? live : await readPage(liveId, live.right, page)
  }
}

export const getHistoryEntry = (deps: LoadDeps): GetHistoryEntry => {
  const find = findOwnedLive(deps.store)
  const readEntry = readHistoryEntry(deps, maskForOwner)
  return async (caller, liveId, entryId) => {
    const live = await find(caller, liveId)
    if (E.isLeft(live)) return live
    return pipe(
      await readEntry(liveId, live.right, entryId),
      E.map(({ entry, state }) => ({ entry, state: { ...viewOf(state), senderToken: MASK, listenerToken: MASK } })),
    )
  }
}
