import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { Unavailable } from '../../refusals.ts'
import { openEach } from '../../log/event-serialization.ts'
import { MAX_LOST_IN_SEQUENCE, readUndamaged } from '../../log/read-undamaged.ts'
import type { EventStore, Revision } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'

export interface ReadFinalsDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly keyring: Pick<Keyring, 'open'>
}

interface ReadFinal {
  readonly revision: Revision
  /** Null: the event cannot be read. */
  readonly data: SegmentFinalised['data'] | null
}

export interface ReadFinals {
  /** In the order of the log. */
  readonly finals: ReadonlyArray<ReadFinal>
  /** The last revision that was read. Null: there is none from the requested revision on. */
  readonly last: Revision | null
}

/**
 * Reads up to `limit` events of the text of a session, from a revision on. A damaged event costs only itself. Left: the
 * store is unavailable, or so many events are damaged that the file itself must be.
 */
export const readFinals =
  ({ store, keyring }: ReadFinalsDeps) =>
  async (liveId: number, from: Revision, limit: number): Promise<Either<Unavailable, ReadFinals>> => {
    const found = await readUndamaged(store, segmentsStream(liveId), from, limit)
    if (E.isLeft(found)) return found
    const { events, lost } = found.right
    if (lost.length >= MAX_LOST_IN_SEQUENCE) return E.left({ _tag: 'LogCorrupted', reason: lost[0]?.reason ?? '' })
    const stored = events.filter(({ type }) => type === SegmentFinalised.type)
    const opened = await openEach(keyring)(stored)
    if (E.isLeft(opened)) return opened
    const read = stored.map(({ revision }, index): ReadFinal => {
      const event = opened.right[index]
      // The cast is safe, because the codec of SegmentFinalised has decoded the event.
      const data = event === undefined || E.isLeft(event) ? null : (event.right.data as SegmentFinalised['data'])
      return { revision, data }
    })
    const damaged = lost.map(({ revision }): ReadFinal => ({ revision, data: null }))
    const last = Math.max(-1, ...[...events, ...lost].map(({ revision }) => revision))
    const finals = [...read, ...damaged].toSorted((a, b) => a.revision - b.revision)
    return E.right({ finals, last: last < 0 ? null : last })
  }
