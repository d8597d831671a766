import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { eventReader } from '../../../domain/read-event.ts'
import { type SegmentsFenced, segmentsStream, termOf, transcriptEvents } from '../../../domain/transcript/events.ts'
import type { EventOf } from '../../../domain/shared/event.ts'
import type { Superseded, Unavailable } from '../../refusals.ts'
import { ownOrigin } from '../../log/origin.ts'
import { appendWithRetries, type WriteDeps } from '../../log/handle-command.ts'
import type { StoredEvent } from '../../ports/event-store.ts'

/**
 * Number of the newest events of a transcript that are read. One event is not enough, because translations and fences
 * may follow a final segment.
 */
export const LOOK_BACK_EVENTS = 200
/** Attempts while an earlier worker still writes. The earlier worker stops when it loses its first race. */
const MAX_ATTEMPTS = 5

type Fence = Omit<EventOf<typeof SegmentsFenced>['data'], 'at'>

const writtenOf = eventReader(transcriptEvents)

/** Returns the term of the newest event, or 0 for an empty transcript. Expects the newest event first. */
export const lastTermOf = (newestFirst: ReadonlyArray<StoredEvent>): number => {
  const newest = newestFirst.map(writtenOf).find((event) => event !== undefined)
  return newest === undefined ? 0 : termOf(newest)
}

/**
 * Appends a fence, so workers of lower terms cannot write segments of the session: their appends fail with a wrong
 * revision. A term counts the workers of a session: each worker that takes over the session gets the next number.
 * Returns the newest events before the fence, newest first. A repeated call changes nothing.
 */
export const fenceSegments =
  (deps: WriteDeps) =>
  async (fence: Fence): Promise<Either<Superseded | Unavailable, ReadonlyArray<StoredEvent>>> => {
    const stream = segmentsStream(fence.liveId)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const newest = await deps.store.read(stream, { direction: 'backwards', limit: LOOK_BACK_EVENTS })
      if (E.isLeft(newest)) return newest
      const lastTerm = lastTermOf(newest.right)
      if (lastTerm > fence.term) return E.left({ _tag: 'Superseded' })
      if (lastTerm === fence.term) return newest
      const { commandId, ...origin } = ownOrigin(deps)
      const at = deps.environment.now()
      const metadata = { ...origin, causationId: commandId, recordedAt: at }
      const event = { id: deps.environment.newId(), type: 'SegmentsFenced', data: { ...fence, at }, metadata }
      const appended = await appendWithRetries(deps, stream, newest.right[0]?.revision ?? 'no-stream', [event])
      if (E.isRight(appended)) return newest
      if (appended.left._tag === 'StoreUnavailable') return E.left(appended.left)
    }
    return E.left({ _tag: 'Contended', stream })
  }
