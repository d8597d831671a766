import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { LiveCreated, LiveDeleted, LiveFailed, LiveFinished, liveStream } from '../../domain/live/events.ts'
import type { StoredEventOf } from '../../domain/shared/event.ts'
import { eventReader } from '../../domain/read-event.ts'
import type { Caller } from '../caller.ts'
import { type LiveNotFound, liveNotFound, type Unavailable } from '../refusals.ts'
import { whyUnreadable } from '../log/event-serialization.ts'
import type { EventStore, Revision } from '../ports/event-store.ts'

type Data<Definition> = StoredEventOf<Definition> extends { readonly data: infer Members } ? Members : never

/** Facts from the first and the last event of a session. Personal members stay encrypted. */
export interface OwnedLive {
  readonly created: Data<typeof LiveCreated>
  /** When the session finished or failed. Null before its end. */
  readonly endedAt: string | null
  /** The time of the end on the clock of the store, in milliseconds since 1970. Waits count from it. */
  readonly endStoredAt: number | null
  readonly status: 'open' | 'finished' | 'error'
  /** Revision of the newest event. */
  readonly revision: Revision
}

const createdOf = eventReader([LiveCreated])
const endOf = eventReader([LiveFinished, LiveFailed])

/**
 * Reads only the first and the last event of a session. So the cost does not grow with the stream, and the result never
 * lags behind. Left `LiveNotFound`: the session is deleted, aborted or unknown, or `mayRead` refuses its owner.
 */
export const findLive =
  (store: Pick<EventStore, 'read'>) =>
  async (
    mayRead: (ownerId: number) => boolean, liveId: number,
  ): Promise<Either<LiveNotFound | Unavailable, OwnedLive>> => {
    const head = await store.read(liveStream(liveId), { limit: 1 })
    if (E.isLeft(head)) return head
    const tail = await store.read(liveStream(liveId), { direction: 'backwards', limit: 1 })
    if (E.isLeft(tail)) return tail
    const [[first], [last]] = [head.right, tail.right]
    if (first === undefined || last === undefined || last.type === LiveDeleted.type) return E.left(liveNotFound)
    const created = createdOf(first)
    if (created === undefined) return E.left(whyUnreadable(first) ?? liveNotFound)
    if (!mayRead(created.data.userId)) return E.left(liveNotFound)
    const end = endOf(last)
    const status = end === undefined ? 'open' : end.type === LiveFailed.type ? 'error' : 'finished'
    const [endedAt, endStoredAt] = end === undefined ? [null, null] : [end.data.at, last.storedAt]
    return E.right({ created: created.data, endedAt, endStoredAt, status, revision: last.revision })
  }

/** Finds a session of the caller. */
export const findOwnedLive = (store: Pick<EventStore, 'read'>) => {
  const find = findLive(store)
  return (caller: Caller, liveId: number): Promise<Either<LiveNotFound | Unavailable, OwnedLive>> =>
    find((ownerId) => ownerId === caller.userId, liveId)
}
