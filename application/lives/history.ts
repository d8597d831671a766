import * as E from 'fp-ts/lib/Either.js'
import { definitionOf } from '../../domain/all-events.ts'
import { liveStream } from '../../domain/live/events.ts'
import { maskedUrl } from '../../domain/live/masked-url.ts'
import { ERASED } from '../../domain/shared/event.ts'
import { openEvents } from '../event-serialization.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import type { Services } from '../services.ts'
import { findOwnedLive } from './owned-live.ts'

export interface HistoryDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly keyring: Pick<Keyring, 'open'>
}

const MASK = '***'

/** Of no use to anybody but the service. */
const isInternal = (member: string): boolean => member === 'commandId' || member.endsWith('Hash')

/** Secrets masked (D60); null stays null, it tells that there is none. */
const maskedMember = (member: string, value: unknown, isPersonal: boolean): unknown => {
  if (!isPersonal || value === null) return value
  return member === 'audioUrl' && typeof value === 'string' && value !== ERASED ? maskedUrl(value) : MASK
}

/** What happened to a live, straight from its stream: an event's number there is its place in the history. */
export const createHistory = ({ store, keyring }: HistoryDeps): Pick<Services, 'getHistory'> => ({
  getHistory: (caller, liveId, { skip, limit }) => async () => {
    const live = await findOwnedLive(store)(caller, liveId)()
    if (E.isLeft(live)) return live
    const total = live.right.last.revision + 1
    if (skip >= total) return E.right({ items: [], total })
    const stored = await store.read(liveStream(liveId), { from: skip, limit: Math.min(limit, total - skip) })()
    if (E.isLeft(stored)) return stored
    const opened = await openEvents(keyring)(stored.right)()
    if (E.isLeft(opened)) return opened
    const items = stored.right.map(({ type, revision, metadata }, index) => {
      const personal = definitionOf(type)?.personal ?? []
      const members = Object.entries({ ...(opened.right[index]?.data as object) }).filter(([member]) => !isInternal(member))
      const data = Object.fromEntries(members.map(([member, value]) => [member, maskedMember(member, value, personal.includes(member))]))
      return { id: revision + 1, type, at: metadata.recordedAt, actor: metadata.actor, data }
    })
    return E.right({ items, total })
  },
})
