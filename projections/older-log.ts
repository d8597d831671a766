import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Checkpoint } from '../application/ports/documents.ts'
import type { EventStore, StoreUnavailable } from '../application/ports/event-store.ts'
import { orThrow } from '../domain/shared/or-throw.ts'

/** What an operator can do when the log is older than what was built from it. */
export const OLDER_LOG_REMEDY =
  'Put the newer log back. Or record that this log is restored: stenolog restore --in-place, or with EventStoreDB '
  + 'stenolog log take-over'

/**
 * Returns a message for users when the log is an older copy than a checkpoint (a restored backup), else null. Such a
 * copy may have grown after it was restored. So its length is not enough: it must also contain the last event of the
 * checkpoint. Streams may lose their first events, but never their last event.
 */
export const olderLogReason =
  async (
    store: Pick<EventStore, 'head' | 'read'>,
    { position, last }: Checkpoint,
  ): Promise<Either<StoreUnavailable, string | null>> => {
    const head = await store.head()
    if (E.isLeft(head)) return head
    if (position > head.right) return E.right('the log is an older copy: it ends before this checkpoint')
    if (last === null) return E.right(null)
    const { stream, revision, id } = last
    const found = await store.read(stream, { from: revision, limit: 1 })
    if (E.isLeft(found)) return found.left._tag === 'LogCorrupted' ? E.right(null) : E.left(found.left)
    const stored = found.right.find((event) => event.revision === revision)
    if (stored !== undefined)
      return E.right(stored.id === id ? null : `the log is another copy: event ${revision} of ${stream} has another id`)
    const newest = await store.read(stream, { direction: 'backwards', limit: 1 })
    if (E.isLeft(newest)) return newest.left._tag === 'LogCorrupted' ? E.right(null) : E.left(newest.left)
    const [end] = newest.right
    const isShorter = end === undefined || end.revision < revision
    return E.right(isShorter ? `the log is an older copy: ${stream} ends before event ${revision}` : null)
  }

/** Throws when the log is an older copy, because its events would be folded into newer documents. */
export const requireSameLog = async (
  store: Pick<EventStore, 'head' | 'read'>, checkpoint: Checkpoint,
): Promise<void> => {
  const reason = orThrow(await olderLogReason(store, checkpoint))
  if (reason !== null) throw new Error(`${reason}; restore the newer log, or rebuild the read model`)
}
