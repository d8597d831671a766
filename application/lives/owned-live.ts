import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { LiveCreated, LiveDeleted, LiveFailed, LiveFinished, liveStream } from '../../domain/live/events.ts'
import type { StoredEventOf } from '../../domain/shared/event.ts'
import { reading } from '../../domain/read-event.ts'
import type { Caller } from '../caller.ts'
import type { LiveNotFound, Unavailable } from '../errors.ts'
import { whyUnreadable } from '../log/event-serialization.ts'
import type { EventStore, Revision } from '../ports/event-store.ts'

type Data<Definition> = StoredEventOf<Definition> extends { readonly data: infer Members } ? Members : never

/** A live as its stream begins and ends; sealed members stay sealed. */
export interface OwnedLive {
  readonly created: Data<typeof LiveCreated>
  /** When it finished or failed; null while it has not. */
  readonly endedAt: string | null
  /** Of the newest event. */
  readonly revision: Revision
}

const notFound: LiveNotFound = { _tag: 'LiveNotFound' }

const createdOf = reading([LiveCreated])
const endOf = reading([LiveFinished, LiveFailed])

/**
 * Looks at the ends of a live's stream only, so its cost does not grow with the stream and it never lags. A live of
 * somebody who is not seen, a deleted one and one that was fenced off are as unknown as one that never was.
 */
export const findLive =
  (store: Pick<EventStore, 'read'>) =>
  (isSeen: (ownerId: number) => boolean, liveId: number): TaskEither<LiveNotFound | Unavailable, OwnedLive> =>
  async () => {
    const stream = liveStream(liveId)
    const head = await store.read(stream, { limit: 1 })()
    if (E.isLeft(head)) return head
    const tail = await store.read(stream, { direction: 'backwards', limit: 1 })()
    if (E.isLeft(tail)) return tail
    const [[first], [last]] = [head.right, tail.right]
    if (first === undefined || last === undefined || last.type === LiveDeleted.type) return E.left(notFound)
    const created = createdOf(first)
    if (created === undefined) return E.left(whyUnreadable(first) ?? notFound)
    if (!isSeen(created.data.userId)) return E.left(notFound)
    return E.right({ created: created.data, endedAt: endOf(last)?.data.at ?? null, revision: last.revision })
  }

/** A live of the caller's. */
export const findOwnedLive = (store: Pick<EventStore, 'read'>) => {
  const find = findLive(store)
  return (caller: Caller, liveId: number): TaskEither<LiveNotFound | Unavailable, OwnedLive> =>
    find((ownerId) => ownerId === caller.userId, liveId)
}
