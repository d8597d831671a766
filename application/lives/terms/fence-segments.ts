import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { reading } from '../../../domain/read-event.ts'
import { segmentsStream, termOf, transcriptEvents } from '../../../domain/transcript/events.ts'
import type { SegmentsFenced } from '../../../domain/transcript/events.ts'
import type { EventOf } from '../../../domain/shared/event.ts'
import type { Superseded, Unavailable } from '../../errors.ts'
import { ownOrigin } from '../../log/origin.ts'
import { appendSurely } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { ExpectedRevision, StoredEvent } from '../../ports/event-store.ts'

/**
 * The newest of a live's stored segments that are looked at: of one final there are as many as translations, and
 * fences.
 */
export const LOOK_BACK = 200
/** Races that are lost to the worker before, which hears of the fence by the first that it loses. */
const MAX_ATTEMPTS = 5

type Fence = Omit<EventOf<typeof SegmentsFenced>['data'], 'at'>

const writtenOf = reading(transcriptEvents)

/** The term of whoever wrote there last, newest first; 0 where nobody has. */
export const lastTermOf = (newestFirst: ReadonlyArray<StoredEvent>): number => {
  const newest = newestFirst.map(writtenOf).find((event) => event !== undefined)
  return newest === undefined ? 0 : termOf(newest)
}

/**
 * From here on no worker of a lower term writes segments of the live: what it appends finds another revision. Answers
 * what was written last, newest first, all of lower terms before the fence. Repeating it changes nothing.
 */
export const fenceSegments =
  (deps: WriteDeps) =>
  (fence: Fence): TaskEither<Superseded | Unavailable, ReadonlyArray<StoredEvent>> =>
  async () => {
    const stream = segmentsStream(fence.liveId)
    // A stream whose events are deleted reads as empty and goes on numbering.
    let emptyAt: ExpectedRevision = 'no-stream'
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const newest = await deps.store.read(stream, { direction: 'backwards', limit: LOOK_BACK })()
      if (E.isLeft(newest)) return newest
      const lastTerm = lastTermOf(newest.right)
      if (lastTerm > fence.term) return E.left({ _tag: 'Superseded' })
      if (lastTerm === fence.term) return newest
      const { commandId, ...origin } = ownOrigin(deps)
      const at = deps.environment.now()
      const metadata = { ...origin, causationId: commandId, recordedAt: at }
      const event = { id: deps.environment.newId(), type: 'SegmentsFenced', data: { ...fence, at }, metadata }
      const appended = await appendSurely(deps, stream, newest.right[0]?.revision ?? emptyAt, [event])
      if (E.isRight(appended)) return newest
      if (appended.left._tag === 'StoreUnavailable') return E.left(appended.left)
      emptyAt = appended.left.actual
    }
    return E.left({ _tag: 'Contended', stream })
  }
