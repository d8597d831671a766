import type { ApiTokenFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'

export const API_TOKENS = 'api-tokens'

export interface ApiTokenDocument extends ApiTokenFacts {
  readonly name: Envelope
}
