import type { CollectionSpec, Document, EventName, ReadModel } from '../application/ports/documents.ts'
import type { StoredEvent } from '../application/ports/event-store.ts'
import type { ListName } from '../application/ports/projector.ts'
import type { StoredEventOf } from '../domain/shared/event.ts'
import { eventReader } from '../domain/read-event.ts'

/** Folds events into the documents of a read model. Each document depends only on the events that touch it. */
export interface Projection {
  /** Also the name of its checkpoint. */
  readonly name: string
  readonly collection: CollectionSpec
  /** Name prefixes of the streams with its events. */
  readonly prefixes: ReadonlyArray<string>
  /** Returns the ids of the documents that an event may change. */
  readonly touches: (event: StoredEvent) => ReadonlyArray<string>
  /** Returns the document `id` after the event, or null for no document. The same object means no change. */
  readonly project: (current: Document | null, event: StoredEvent, id: string) => Document | null
}

export const modelOf = ({ name, collection }: Pick<Projection, 'name' | 'collection'>): ReadModel => ({
  projection: name,
  collection: collection.name,
})

interface ProjectionSpec<Definition, View> extends Pick<Projection, 'collection' | 'prefixes'> {
  readonly name: ListName
  readonly events: ReadonlyArray<Definition>
  readonly touches: (event: StoredEventOf<Definition>) => ReadonlyArray<string>
  readonly project: (current: View | null, event: StoredEventOf<Definition>, id: string) => View | null
}

/**
 * Defines a projection with typed events and documents. The casts are safe, because only the projection writes its
 * collection. Events of other types and damaged events change nothing, so they do not stop the projection.
 */
export const defineProjection = <Definition extends { readonly type: string }, View extends object>(
  spec: ProjectionSpec<Definition, View>,
): Projection => {
  const decode = eventReader(spec.events)
  return {
    name: spec.name,
    collection: spec.collection,
    prefixes: spec.prefixes,
    touches: (event) => {
      const decoded = decode(event)
      return decoded === undefined ? [] : spec.touches(decoded)
    },
    project: (current, event, id) => {
      const decoded = decode(event)
      return decoded === undefined ? current : (spec.project(current as View | null, decoded, id) as Document | null)
    },
  }
}

export const lastOf = (events: ReadonlyArray<EventName>, before: EventName | null): EventName | null => {
  const last = events.at(-1)
  return last === undefined ? before : { stream: last.stream, revision: last.revision, id: last.id }
}
