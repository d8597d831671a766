import type { LiveFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const LIVES = 'lives'

/** A session in the read model, with sealed personal members. The id of the document is the session id as text. */
export interface LiveDocument extends LiveFacts {
  readonly audioUrl: Envelope | null
  readonly senderToken: Envelope
  readonly listenerToken: Envelope
  readonly vocabulary?: Envelope
}

export const livesIn = typedDocuments<LiveDocument>(LIVES)
