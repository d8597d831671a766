import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { LogRestored, RESTORES_STREAM } from '../../domain/restores/events.ts'
import { eventReader } from '../../domain/read-event.ts'
import type { EventStore, StoreUnavailable } from '../ports/event-store.ts'
import { type Unreadable, whyUnreadable } from './event-serialization.ts'

const restoredOf = eventReader([LogRestored])

/**
 * Returns the newest restore of the log, or null if an older copy never replaced it. Fails if its event cannot be read:
 * without it, old logins would be valid and ids would be given out again.
 */
export const lastRestore = async (
  { store }: { readonly store: Pick<EventStore, 'read'> },
): Promise<Either<StoreUnavailable | Unreadable, LogRestored['data'] | null>> => {
  const read = await store.read(RESTORES_STREAM, { direction: 'backwards', limit: 1 })
  if (E.isLeft(read)) return read
  const [newest] = read.right
  if (newest === undefined) return E.right(null)
  const why = whyUnreadable(newest)
  return why === null ? E.right(restoredOf(newest)?.data ?? null) : E.left(why)
}
