import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { definitionOf } from '../../../domain/all-events.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { maskedUrl } from '../../../domain/live/masked-url.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { openEach, refusalOf } from '../../log/event-serialization.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { findOwnedLive } from '../owned-live.ts'

/** One event of a live, secrets masked. */
export interface HistoryEntry {
  /** From 1. */
  readonly id: number
  readonly type: string
  readonly at: string
  readonly actor: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What happened to a live of the caller's, oldest first. */
export type GetHistory = (
  caller: Caller,
  liveId: number,
  page: PageQuery,
) => TaskEither<LiveNotFound | Unavailable, Page<HistoryEntry>>

export interface GetHistoryDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly keyring: Pick<Keyring, 'open'>
}

const MASK = '***'

/** Of no use to anybody but the service. */
const isInternal = (member: string): boolean => member === 'commandId' || member.endsWith('Hash')

/** Secrets masked; null stays null, it tells that there is none. */
const maskedMember = (member: string, value: unknown, isPersonal: boolean): unknown => {
  if (!isPersonal || value === null) return value
  return member === 'audioUrl' && typeof value === 'string' && value !== ERASED ? maskedUrl(value) : MASK
}

/** Straight from the live's stream: an event's number there is its place in the history. */
export const getHistory =
  ({ store, keyring }: GetHistoryDeps): GetHistory =>
  (caller, liveId, { skip, limit }) =>
  async () => {
    const live = await findOwnedLive(store)(caller, liveId)()
    if (E.isLeft(live)) return live
    const total = live.right.revision + 1
    if (skip >= total) return E.right({ items: [], total })
    const stored = await store.read(liveStream(liveId), { from: skip, limit: Math.min(limit, total - skip) })()
    if (E.isLeft(stored)) return stored
    const opened = await openEach(keyring)(stored.right)()
    if (E.isLeft(opened)) return opened
    const items: Array<HistoryEntry> = []
    for (const [index, event] of stored.right.entries()) {
      const { type, revision, metadata } = event
      const clear = opened.right[index]
      if (clear !== undefined && E.isLeft(clear) && clear.left._tag === 'EventMisfit')
        return E.left(refusalOf(event, clear.left))
      // What a newer version wrote down happened, whatever it says.
      const said = clear === undefined || E.isLeft(clear) ? {} : { ...(clear.right.data as object) }
      const personal = definitionOf(type)?.personal ?? []
      const members = Object.entries(said).filter(([member]) => !isInternal(member))
      const masked = members.map(([member, value]) => [member, maskedMember(member, value, personal.includes(member))])
      const data = Object.fromEntries(masked) as HistoryEntry['data']
      items.push({ id: revision + 1, type, at: metadata.recordedAt, actor: metadata.actor, data })
    }
    return E.right({ items, total })
  }
