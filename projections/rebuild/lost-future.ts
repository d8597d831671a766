import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Documents, DocumentsUnavailable } from '../../application/ports/documents.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import type { Projection } from '../projection.ts'

interface LostFutureDeps {
  readonly store: Pick<EventStore, 'head'>
  readonly documents: Pick<Documents, 'checkpoint' | 'discard'>
  readonly projections: ReadonlyArray<Projection>
  /** Names of further checkpoints, without documents. */
  readonly duties: ReadonlyArray<string>
  readonly logger: Logger
}

/**
 * Discards read models whose checkpoint lies past the end of the log: an older copy of the log was put in its place, and
 * they show what no longer happened. The projector then makes them anew. To be called before anything is appended.
 */
export const discardLostFuture =
  ({ store, documents, projections, duties, logger }: LostFutureDeps): TaskEither<StoreUnavailable | DocumentsUnavailable, void> =>
  async () => {
    const head = await store.head()()
    if (E.isLeft(head)) return head
    const models = [
      ...projections.map(({ name, collection }) => ({ projection: name, collection: collection.name })),
      ...duties.map((projection) => ({ projection, collection: null })),
    ]
    for (const model of models) {
      const checkpoint = await documents.checkpoint(model.projection)()
      if (E.isLeft(checkpoint)) return checkpoint
      if (checkpoint.right <= head.right) continue
      const about = { projection: model.projection, checkpoint: checkpoint.right, end: head.right }
      logger.warn(about, 'the log ends before this checkpoint: an older copy was put in its place; it begins anew')
      const discarded = await documents.discard(model)()
      if (E.isLeft(discarded)) return discarded
    }
    return E.right(undefined)
  }
