import type { CollectionSpec, Document, EventName, ReadModel } from '../application/ports/documents.ts'
import type { StoredEvent } from '../application/ports/event-store.ts'
import type { StoredEventOf } from '../domain/shared/event.ts'
import { eventReader } from '../domain/read-event.ts'

/** A read model as a pure fold: each document follows from the events that touch it and from nothing else. */
export interface Projection {
  /** Names its checkpoint. */
  readonly name: string
  readonly collection: CollectionSpec
  /** Streams that hold its events. */
  readonly prefixes: ReadonlyArray<string>
  /** Ids of the documents that an event may change; none for events that do not matter here. */
  readonly touches: (event: StoredEvent) => ReadonlyArray<string>
  /** The document `id` after the event; null where there is none. The same object back means unchanged. */
  readonly project: (current: Document | null, event: StoredEvent, id: string) => Document | null
}

export const modelOf = ({ name, collection }: Pick<Projection, 'name' | 'collection'>): ReadModel => ({
  projection: name,
  collection: collection.name,
})

interface ProjectionSpec<Definition, View> extends Pick<Projection, 'name' | 'collection' | 'prefixes'> {
  readonly events: ReadonlyArray<Definition>
  readonly touches: (event: StoredEventOf<Definition>) => ReadonlyArray<string>
  readonly project: (current: View | null, event: StoredEventOf<Definition>, id: string) => View | null
}

/**
 * A projection in the types of its events and documents. The casts of documents are sound because nobody but the
 * projection writes its collection. Events of a type that is not listed may come from a newer version that shares the
 * log: they change nothing, no more than those that cannot be read, so that neither stops the read side.
 */
export const defineProjection = <Definition extends { readonly type: string }, View extends object>(
  spec: ProjectionSpec<Definition, View>,
): Projection => {
  const known = eventReader(spec.events)
  return {
    name: spec.name,
    collection: spec.collection,
    prefixes: spec.prefixes,
    touches: (event) => {
      const said = known(event)
      return said === undefined ? [] : spec.touches(said)
    },
    project: (current, event, id) => {
      const said = known(event)
      return said === undefined ? current : (spec.project(current as View | null, said, id) as Document | null)
    },
  }
}

/** The name of the newest of some events in their order, `before` where there are none. */
export const lastOf = (events: ReadonlyArray<EventName>, before: EventName | null): EventName | null => {
  const last = events.at(-1)
  return last === undefined ? before : { stream: last.stream, revision: last.revision, id: last.id }
}
