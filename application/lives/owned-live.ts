import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveStream } from '../../domain/live/events.ts'
import type { Caller } from '../caller.ts'
import type { LiveNotFound, Unavailable } from '../errors.ts'
import type { EventStore, StoredEvent } from '../ports/event-store.ts'

/** A live of the caller's as its stream begins and ends; sealed members stay sealed. */
export interface OwnedLive {
  /** LiveCreated. */
  readonly first: StoredEvent
  readonly last: StoredEvent
}

/**
 * Looks at the ends of a live's stream only, so its cost does not grow with the stream and it never lags. Somebody else's
 * live, a deleted one and one that was fenced off are as unknown as one that never was (R36, R86).
 */
export const findOwnedLive =
  (store: Pick<EventStore, 'read'>) =>
  (caller: Caller, liveId: number): TaskEither<LiveNotFound | Unavailable, OwnedLive> =>
  async () => {
    const stream = liveStream(liveId)
    const head = await store.read(stream, { limit: 1 })()
    if (E.isLeft(head)) return head
    const tail = await store.read(stream, { direction: 'backwards', limit: 1 })()
    if (E.isLeft(tail)) return tail
    const [[first], [last]] = [head.right, tail.right]
    const isOwned = first?.type === 'LiveCreated' && first.data['userId'] === caller.userId
    if (!isOwned || last === undefined || last.type === 'LiveDeleted') return E.left({ _tag: 'LiveNotFound' })
    return E.right({ first, last })
  }
