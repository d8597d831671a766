import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ADMINISTRATORS_STREAM } from '../../../domain/administrators/events.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import type { WatchedLog } from '../../log/watched-log.ts'
import type { EventStore } from '../../ports/event-store.ts'

/** Whether somebody administers, or ever did: then nobody is asked for the first administrator. */
export type IsSetUp = () => TaskEither<Unavailable, boolean>

export interface IsSetUpDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly log: Pick<WatchedLog, 'isHurt'>
}

/** Who cannot be read is one all the same. */
export const isSetUp = ({ store, log }: IsSetUpDeps): IsSetUp => {
  // The last administrator stays, so this never changes back.
  let isKnown = false
  return () => async () => {
    if (isKnown || log.isHurt('user')) return E.right(true)
    const first = await store.read(ADMINISTRATORS_STREAM, { limit: 1 })()
    if (E.isLeft(first)) return isHurt(first.left) ? E.right(true) : first
    isKnown = first.right.length > 0
    return E.right(isKnown)
  }
}
