import type { Checkpoint, Checkpointed } from '../../../application/ports/documents.ts'
import type { Position } from '../../../application/ports/event-store.ts'

/** A checkpoint that names no event. */
export const checkpointAt = (position: Position): Checkpoint => ({ position, last: null })

/** Who has a checkpoint of that name and no documents. */
export const duty = (projection: string): Checkpointed => ({ projection, collection: null })
