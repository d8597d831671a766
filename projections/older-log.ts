import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Checkpoint } from '../application/ports/documents.ts'
import type { EventStore, StoreUnavailable } from '../application/ports/event-store.ts'

/**
 * Why the log cannot be the one of which a checkpoint was taken, in words for people; null when it may be. Who put an
 * older copy in its place may have written to it since, so the end alone does not tell: the checkpoint's last event
 * must still be there. Of the streams that projections and duties follow some lose their first events, and none its last.
 */
export const whyOlder =
  (store: Pick<EventStore, 'head' | 'read'>, { position, last }: Checkpoint): TaskEither<StoreUnavailable, string | null> =>
  async () => {
    const head = await store.head()()
    if (E.isLeft(head)) return head
    if (position > head.right) return E.right('the log ends before this checkpoint: it is an older copy')
    if (last === null) return E.right(null)
    const { stream, revision, id } = last
    const found = await store.read(stream, { from: revision, limit: 1 })()
    if (E.isLeft(found)) return found.left._tag === 'LogCorrupted' ? E.right(null) : E.left(found.left)
    const there = found.right.find((event) => event.revision === revision)
    if (there !== undefined)
      return E.right(there.id === id ? null : `event ${revision} of ${stream} is another one than before: the log is another copy`)
    const newest = await store.read(stream, { direction: 'backwards', limit: 1 })()
    if (E.isLeft(newest)) return newest.left._tag === 'LogCorrupted' ? E.right(null) : E.left(newest.left)
    const [end] = newest.right
    const isShorter = end === undefined || end.revision < revision
    return E.right(isShorter ? `${stream} ends before event ${revision}: the log is an older copy` : null)
  }
