import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { Unavailable } from '../../errors.ts'
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
  (liveId: number, from: Revision, limit: number): Promise<Either<Unavailable, ReadFinals>> =>
    pipe(
      () => readUndamaged(store, segmentsStream(liveId), from, limit),
      TE.filterOrElseW(
        ({ lost }) => lost.length < MAX_LOST_IN_SEQUENCE,
        ({ lost }) => ({ _tag: 'LogCorrupted' as const, reason: lost[0]?.reason ?? '' }),
      ),
      TE.bind('stored', ({ events }) => TE.right(events.filter(({ type }) => type === SegmentFinalised.type))),
      TE.bindW('opened', ({ stored }) => () => openEach(keyring)(stored)),
      TE.map(({ events, lost, stored, opened }) => {
        const read = stored.map(({ revision }, index): ReadFinal => {
          const event = opened[index]
          // The cast is safe, because the codec of SegmentFinalised has decoded the event.
          const data = event === undefined || E.isLeft(event) ? null : (event.right.data as SegmentFinalised['data'])
          return { revision, data }
        })
        const damaged = lost.map(({ revision }): ReadFinal => ({ revision, data: null }))
        const last = Math.max(-1, ...[...events, ...lost].map(({ revision }) => revision))
        return {
          finals: [...read, ...damaged].toSorted((a, b) => a.revision - b.revision), last: last < 0 ? null : last,
        }
      }),
    )()
