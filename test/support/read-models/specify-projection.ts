import type { ExecutionContext } from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import type { Document, Documents } from '../../../application/ports/documents.ts'
import { BEGINNING, type StoredEvent } from '../../../application/ports/event-store.ts'
import { changesOf } from '../../../projections/apply.ts'
import { modelOf, type Projection } from '../../../projections/projection.ts'
import { createMemoryDocuments } from '../doubles/memory/documents.ts'
import { storedEvents, type PlainEvent } from '../events/stored-events.ts'
import { right } from '../tools/right.ts'
import { checkpointAt } from './checkpoints.ts'

/** Returns the document without the position that the projector adds. */
export const withoutPosition = (document: Document): Document => {
  const { position: _, ...rest } = document
  return rest
}

/** Returns all documents that the events touch, by id. */
export const documentsOf = async (
  documents: Documents,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): Promise<Readonly<Record<string, Document>>> => {
  const found: Record<string, Document> = {}
  for (const id of new Set(events.flatMap(projection.touches))) {
    const document = right(await documents.get(projection.collection.name, id))
    if (O.isSome(document)) found[id] = withoutPosition(document.value)
  }
  return found
}

/** Applies the events as one step of the projector: changes the documents and moves the checkpoint. */
export const projectEvents = async (
  documents: Documents,
  projection: Projection,
  events: ReadonlyArray<StoredEvent>,
): Promise<void> => {
  const changes = right(await changesOf(documents, projection, events))
  right(await documents.commit(modelOf(projection), changes, checkpointAt(events.at(-1)?.position ?? BEGINNING)))
}

/**
 * Tests a projection in two steps: given events, then documents. Checks four deliveries: all events at once, one by
 * one, each event twice, and the whole history twice.
 */
export const specifyProjection = (t: ExecutionContext, projection: Projection) => ({
  given: (...history: ReadonlyArray<PlainEvent>) => ({
    thenDocuments: async (expected: Readonly<Record<string, object>>): Promise<void> => {
      const events = storedEvents(history)
      const deliveries: ReadonlyArray<readonly [name: string, batches: ReadonlyArray<ReadonlyArray<StoredEvent>>]> = [
        ['all events at once', [events]],
        ['one by one', events.map((event) => [event])],
        ['each event twice', events.flatMap((event) => [[event], [event]])],
        ['the whole history twice', [events, events]],
      ]
      for (const [name, batches] of deliveries) {
        const documents = createMemoryDocuments()
        right(await documents.ensure([projection.collection]))
        for (const batch of batches) await projectEvents(documents, projection, batch)
        t.deepEqual(await documentsOf(documents, projection, events), expected, name)
      }
    },
  }),
})
