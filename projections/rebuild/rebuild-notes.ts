import * as O from 'fp-ts/lib/Option.js'
import { type CollectionSpec, type Documents, NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import type { Projection } from '../projection.ts'

/** One document for each projection that was ever rebuilt, for a later process that finds the rebuild unfinished. */
export const REBUILDS: CollectionSpec = { name: 'rebuilds', indexes: [] }
const WITHOUT_CHECKPOINT = { projection: REBUILDS.name, collection: REBUILDS.name }

export interface RebuildNote {
  /** The version of the code that folded the documents. Only the same version may continue. */
  readonly code: string
  /** `promoting`: all documents are built and may have replaced the old ones. `ended`: nothing is left to do. */
  readonly state: 'building' | 'promoting' | 'ended'
  /** The store's name of the collection with the new documents. A collection of another rebuild has another name. */
  readonly place: string
}

interface StoredNote extends RebuildNote {
  /** Revision of this document. Its position in the store is made from it. */
  readonly revision: number
}

const positionOf = (revision: number): Position => String(revision).padStart(20, '0') as Position

export interface RebuildNotes {
  /** Null: the projection was never rebuilt. Like `write`, it rejects when the documents are unavailable. */
  readonly read: () => Promise<RebuildNote | null>
  readonly write: (note: RebuildNote) => Promise<void>
}

export const createRebuildNotes = (
  documents: Pick<Documents, 'ensure' | 'get' | 'commit'>,
  { name: id }: Pick<Projection, 'name'>,
): RebuildNotes => {
  const stored = async (): Promise<StoredNote | null> => {
    orThrow(await documents.ensure([REBUILDS]))
    return O.toNullable(orThrow(await documents.get(REBUILDS.name, id))) as StoredNote | null
  }
  return {
    read: stored,
    write: async (note) => {
      const revision = ((await stored())?.revision ?? 0) + 1
      const document = { ...note, revision }
      const change = { kind: 'put', collection: REBUILDS.name, id, document, position: positionOf(revision) } as const
      orThrow(await documents.commit(WITHOUT_CHECKPOINT, [change], NO_CHECKPOINT))
    },
  }
}
