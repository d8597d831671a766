import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { liveEvents, liveStream } from '../../../domain/live/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import type { Unavailable } from '../../refusals.ts'
import type { EventStore } from '../../ports/event-store.ts'

/** What the newest event of a session shows. It costs the read of one event, and opens no key. */
export type Glance =
  /** The session was not created. */
  | { readonly kind: 'none' }
  /** The session was created at this instant. Since then no sender has come and no source was pulled. */
  | { readonly kind: 'created'; readonly at: string; readonly autoStart: boolean }
  /** The session has ended, or its create was aborted. */
  | { readonly kind: 'over' }
  /** Only the whole stream tells the state. */
  | { readonly kind: 'changed' }

const eventOf = eventReader(liveEvents)

export const glanceAt = async (
  { store }: { readonly store: Pick<EventStore, 'read'> },
  liveId: number,
): Promise<Either<Unavailable, Glance>> =>
  pipe(
    await store.read(liveStream(liveId), { direction: 'backwards', limit: 1 }),
    E.map(([newest]): Glance => {
      if (newest === undefined) return { kind: 'none' }
      const event = eventOf(newest)
      switch (event?.type) {
        case 'LiveCreated':
          return { kind: 'created', at: event.data.at, autoStart: event.data.autoStart }
        case 'LiveFinished':
        case 'LiveFailed':
        case 'LiveAborted':
        case 'LiveDeleted':
          return { kind: 'over' }
        default:
          return { kind: 'changed' }
      }
    }),
  )
