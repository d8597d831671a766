import type { Checkpoint, Checkpointed } from '../../../application/ports/documents.ts'
import type { Position } from '../../../application/ports/event-store.ts'

/** A checkpoint without the name of its last event. */
export const checkpointAt = (position: Position): Checkpoint => ({ position, last: null })

/** A duty, which is a background task that follows the log. It has a checkpoint of this name, but no documents. */
export const duty = (projection: string): Checkpointed => ({ projection, collection: null })
