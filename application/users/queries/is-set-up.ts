import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ADMINISTRATORS_STREAM } from '../../../domain/administrators/events.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import type { WatchedLog } from '../../log/watched-log.ts'
import type { EventStore } from '../../ports/event-store.ts'

/** Returns whether an administrator exists or existed. Then the service needs no first administrator. */
export type IsSetUp = () => Promise<Either<Unavailable, boolean>>

export interface IsSetUpDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly log: Pick<WatchedLog, 'hasUnreadable'>
}

/** Damaged data counts as set up, because it may belong to an administrator. */
export const isSetUp = ({ store, log }: IsSetUpDeps): IsSetUp => {
  // Stays true, because the last administrator cannot be removed.
  let isKnown = false
  return async () => {
    if (isKnown || log.hasUnreadable('user')) return E.right(true)
    const first = await store.read(ADMINISTRATORS_STREAM, { limit: 1 })
    if (E.isLeft(first)) return isUnreadable(first.left) ? E.right(true) : first
    isKnown = first.right.length > 0
    return E.right(isKnown)
  }
}
