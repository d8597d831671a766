import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { eventReader } from '../../../domain/read-event.ts'
import { FIRST_TERM } from '../../../domain/live/events.ts'
import { SegmentFinalised, segmentsStream, termOf } from '../../../domain/transcript/events.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Superseded, Unavailable } from '../../refusals.ts'
import { sealEvents } from '../../log/event-serialization.ts'
import { appendWithRetries, type WriteDeps } from '../../log/handle-command.ts'
import { createLruCache } from '../../lru-cache.ts'
import type { ExpectedRevision, StoredEvent } from '../../ports/event-store.ts'
import { lastTermOf, LOOK_BACK_EVENTS } from '../ownership/fence-segments.ts'

type Segment = SegmentFinalised['data']

/**
 * Stores a final segment (speech or translation) of a session. Refused when a worker of a later term has fenced the
 * stream of segments, so only that worker may write there.
 */
export type RecordSegment = (segment: Segment) => Promise<Either<Superseded | Unavailable, void>>

/**
 * Sessions whose revisions are kept in memory: more than a process can run. Beyond this number the session with the
 * oldest write is dropped, so its next write costs one read.
 */
const MAX_REMEMBERED = 4096

interface SessionWrites {
  /** Revision of the last append. Null when it must be read. */
  last: ExpectedRevision | null
  /** The highest term that wrote. It refuses late writes of an older term, which `last` alone would accept. */
  term: number
  /** Settles when all writes that were requested so far have ended. */
  tail: Promise<unknown>
}

const finalOf = eventReader([SegmentFinalised])

/** True when the stored event is this segment. After an append with unknown outcome, it may already be stored. */
const isSameFinal = (event: StoredEvent, data: Segment): boolean => {
  const final = finalOf(event)
  if (final === undefined || termOf(final) !== termOf({ data })) return false
  const { segment, kind, language } = final.data
  return segment === data.segment && kind === data.kind && language === data.language
}

/**
 * Appends the final segments of each session one after another. The revision is kept in memory, so a segment costs one
 * append. After a failure the stream is read again. The read shows whether the segment is already stored, and whether a
 * later term has fenced the stream.
 */
export const recordSegment = (deps: WriteDeps): RecordSegment => {
  const bySession = createLruCache<number, SessionWrites>(MAX_REMEMBERED)

  const writesOf = (liveId: number): SessionWrites => {
    const writes: SessionWrites = bySession.get(liveId) ?? { last: null, term: FIRST_TERM, tail: Promise.resolve() }
    bySession.set(liveId, writes)
    return writes
  }

  const append = async (
    writes: Pick<SessionWrites, 'last' | 'term'>,
    segment: Segment,
  ): Promise<Either<Superseded | Unavailable, void>> => {
    const stream = segmentsStream(segment.liveId)
    const term = termOf({ data: segment })
    if (term < writes.term) return E.left({ _tag: 'Superseded' })
    if (term > writes.term) writes.last = null
    writes.term = term
    if (writes.last === null) {
      const newest = await deps.store.read(stream, { direction: 'backwards', limit: LOOK_BACK_EVENTS })
      if (E.isLeft(newest)) return newest
      if (lastTermOf(newest.right) > term) return E.left({ _tag: 'Superseded' })
      writes.last = newest.right[0]?.revision ?? 'no-stream'
      if (newest.right.some((event) => isSameFinal(event, segment))) return E.right(undefined)
    }
    const sealed = await sealEvents(deps.keyring, stream)([{ type: 'SegmentFinalised', data: segment }])
    if (E.isLeft(sealed)) return sealed
    const { commandId, ...origin } = ownOrigin(deps)
    const metadata = { ...origin, causationId: commandId, recordedAt: deps.environment.now() }
    const events = sealed.right.map((event) => ({ ...event, id: deps.environment.newId(), metadata }))
    const appended = await appendWithRetries(deps, stream, writes.last, events)
    if (E.isLeft(appended)) {
      writes.last = null
      return appended.left._tag === 'WrongRevision' ? E.left({ _tag: 'Contended', stream }) : E.left(appended.left)
    }
    writes.last = appended.right.revision
    return E.right(undefined)
  }

  return async (segment) => {
    const writes = writesOf(segment.liveId)
    const turn = writes.tail.then(() => append(writes, segment))
    // An exception goes only to the caller of this segment. The next segment is still written.
    writes.tail = turn.catch(() => undefined)
    return await turn
  }
}
