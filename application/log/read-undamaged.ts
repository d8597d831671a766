import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { EventStore, Revision, StoredEvent, StoreUnavailable } from '../ports/event-store.ts'

/** After this many unreadable revisions in a row the read stops: the file itself must be damaged. */
export const MAX_LOST_IN_SEQUENCE = 100

/** A revision that cannot be read, and why. */
export interface LostRevision {
  readonly stream: string
  readonly revision: Revision
  readonly reason: string
}

export interface UndamagedRead {
  readonly events: ReadonlyArray<StoredEvent>
  readonly lost: ReadonlyArray<LostRevision>
}

/**
 * Reads up to `limit` revisions of a stream and skips damaged events. Also returns the skipped revisions, which count
 * for the limit.
 */
export const readUndamaged = async (
  { read }: Pick<EventStore, 'read'>,
  stream: string,
  from: Revision = 0,
  limit: number | null = null,
): Promise<Either<StoreUnavailable, UndamagedRead>> => {
  const whole = await read(stream, { ...(from > 0 && { from }), ...(limit !== null && { limit }) })
  if (E.isRight(whole)) return E.right({ events: whole.right, lost: [] })
  if (whole.left._tag === 'StoreUnavailable') return E.left(whole.left)
  const events: Array<StoredEvent> = []
  const lost: Array<LostRevision> = []
  let lostInSequence = 0
  const isFull = (): boolean => limit !== null && events.length + lost.length >= limit
  for (let revision = from; lostInSequence < MAX_LOST_IN_SEQUENCE && !isFull(); ) {
    const found = await read(stream, { from: revision, limit: 1 })
    if (E.isLeft(found)) {
      if (found.left._tag === 'StoreUnavailable') return E.left(found.left)
      lost.push({ stream, revision, reason: found.left.reason })
      lostInSequence += 1
      revision += 1
      continue
    }
    const [event] = found.right
    if (event === undefined) break
    events.push(event)
    lostInSequence = 0
    revision = event.revision + 1
  }
  return E.right({ events, lost })
}
