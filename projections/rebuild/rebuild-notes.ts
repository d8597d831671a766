import * as O from 'fp-ts/lib/Option.js'
import { NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { CollectionSpec, Documents } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import type { Projection } from '../projection.ts'

/** One note a projection that was ever rebuilt: what a later process must know of its half-built documents. */
const NOTES: CollectionSpec = { name: 'rebuilds', indexes: [] }
const WITHOUT_CHECKPOINT = { projection: NOTES.name, collection: NOTES.name }

export interface RebuildNote {
  /** What code folded the documents: no other may go on with them. */
  readonly code: string
  /** `promoting`: all is built, and may have been put in its place already. `ended`: there is nothing to go on with. */
  readonly state: 'building' | 'promoting' | 'ended'
  /** Where they lie: what is staged elsewhere is not what this tells of. */
  readonly place: string
}

interface StoredNote extends RebuildNote {
  /** Of the note itself, which changes its own position with it. */
  readonly revision: number
}

const positionOf = (revision: number): Position => String(revision).padStart(20, '0') as Position

export interface RebuildNotes {
  /** Null: there was never a rebuild. Rejects, as `write`, when the documents cannot be reached. */
  readonly read: () => Promise<RebuildNote | null>
  readonly write: (note: RebuildNote) => Promise<void>
}

export const createRebuildNotes = (
  documents: Pick<Documents, 'ensure' | 'get' | 'commit'>,
  { name: id }: Pick<Projection, 'name'>,
): RebuildNotes => {
  const stored = async (): Promise<StoredNote | null> => {
    orThrow(await documents.ensure([NOTES])())
    return O.toNullable(orThrow(await documents.get(NOTES.name, id)())) as StoredNote | null
  }
  return {
    read: stored,
    write: async (note) => {
      const revision = ((await stored())?.revision ?? 0) + 1
      const document = { ...note, revision }
      const change = { kind: 'put', collection: NOTES.name, id, document, position: positionOf(revision) } as const
      orThrow(await documents.commit(WITHOUT_CHECKPOINT, [change], NO_CHECKPOINT)())
    },
  }
}
