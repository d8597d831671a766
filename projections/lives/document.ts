import type { LiveFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const LIVES = 'lives'

/** A live as the read model holds it: `_id` is the id as text; personal members sealed. */
export interface LiveDocument extends LiveFacts {
  readonly audioUrl: Envelope | null
  readonly senderToken: Envelope
  readonly listenerToken: Envelope
  readonly vocabulary?: Envelope
}

export const livesIn = typedDocuments<LiveDocument>(LIVES)
