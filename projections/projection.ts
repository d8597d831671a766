import type { CollectionSpec, Document } from '../application/ports/documents.ts'
import type { StoredEvent } from '../application/ports/event-store.ts'
import type { StoredEventOf } from '../domain/shared/event.ts'

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

interface ProjectionSpec<Definition, View> extends Pick<Projection, 'name' | 'collection' | 'prefixes'> {
  readonly events: ReadonlyArray<Definition>
  readonly touches: (event: StoredEventOf<Definition>) => ReadonlyArray<string>
  readonly project: (current: View | null, event: StoredEventOf<Definition>, id: string) => View | null
}

/**
 * A projection in the types of its events and documents. The casts are sound because the write path stores only what
 * fits a definition, and because nobody but the projection writes its collection. Events of a type that is not listed
 * come from a later version that shares the log: they change nothing, so that a rolling update or a step back does
 * not stop the read side.
 */
export const defineProjection = <Definition extends { readonly type: string }, View extends object>(
  spec: ProjectionSpec<Definition, View>,
): Projection => {
  const known = new Set(spec.events.map((definition) => definition.type))
  return {
    name: spec.name,
    collection: spec.collection,
    prefixes: spec.prefixes,
    touches: (event) => (known.has(event.type) ? spec.touches(event as unknown as StoredEventOf<Definition>) : []),
    project: (current, event, id) =>
      known.has(event.type)
        ? (spec.project(current as View | null, event as unknown as StoredEventOf<Definition>, id) as Document | null)
        : current,
  }
}
