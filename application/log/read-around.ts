import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EventStore, Revision, StoredEvent, StoreUnavailable } from '../ports/event-store.ts'

/** Rows in a row that cannot be read before the rest of a stream counts as lost: the file itself is damaged. */
const MAX_LOST_IN_A_ROW = 100

/** A revision that cannot be read, and why. */
export interface LostRevision {
  readonly stream: string
  readonly revision: Revision
  readonly reason: string
}

export interface ReadAround {
  readonly events: ReadonlyArray<StoredEvent>
  readonly lost: ReadonlyArray<LostRevision>
}

/** A stream's events from a revision on, but for those that are not what was written. */
export const readAround = (
  { read }: Pick<EventStore, 'read'>,
  stream: string,
  from: Revision = 0,
): TaskEither<StoreUnavailable, ReadAround> => async () => {
  const whole = await read(stream, from === 0 ? {} : { from })()
  if (E.isRight(whole)) return E.right({ events: whole.right, lost: [] })
  if (whole.left._tag === 'StoreUnavailable') return E.left(whole.left)
  const events: Array<StoredEvent> = []
  const lost: Array<LostRevision> = []
  let inARow = 0
  for (let revision = from; inARow < MAX_LOST_IN_A_ROW; ) {
    const one = await read(stream, { from: revision, limit: 1 })()
    if (E.isLeft(one)) {
      if (one.left._tag === 'StoreUnavailable') return E.left(one.left)
      lost.push({ stream, revision, reason: one.left.reason })
      inARow += 1
      revision += 1
      continue
    }
    const [event] = one.right
    if (event === undefined) break
    events.push(event)
    inARow = 0
    revision = event.revision + 1
  }
  return E.right({ events, lost })
}
