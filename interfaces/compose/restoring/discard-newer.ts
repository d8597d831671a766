import { orThrow } from '../../../domain/shared/or-throw.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { discardNewerThanLog } from '../../../projections/rebuild/discard-newer-than-log.ts'
import { stagedOf } from '../../../projections/rebuild/unfinished-rebuild.ts'

interface Stores {
  readonly store: Pick<EventStore, 'head' | 'read'>
  readonly documents: Pick<Documents, 'checkpoint' | 'discard'>
}

/** Checkpoint names of all duties. A duty is a background task that follows the event log, such as erasing old text. */
export const DUTIES = ['forget-text', 'retention-max', 'erase-deleted', 'erase-users', 'complete-users'] as const

/** All read models, also unfinished rebuilds, and all duties: everything that has a checkpoint. */
export const ALL_CHECKPOINTS = { projections: [...allProjections, ...allProjections.map(stagedOf)], duties: DUTIES }

/** Discards all lists and duties that are newer than the restored log: the next start builds them again. */
export const discardNewer = async (stores: Stores): Promise<void> => {
  orThrow(await discardNewerThanLog({ ...stores, ...ALL_CHECKPOINTS }))
}
