import { SESSION_LISTS } from '../../application/ports/projector.ts'
import type { LiveView } from '../../application/ports/read-models.ts'
import type { KEPT_SEALED } from '../../domain/live/events.ts'
import type { Sealed } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const [LIVES] = SESSION_LISTS

/** A session in the read model, with sealed personal members. The id of the document is the session id as text. */
export type LiveDocument = Sealed<LiveView, (typeof KEPT_SEALED)[number]>

export const livesIn = typedDocuments<LiveDocument>(LIVES)
