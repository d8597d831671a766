import type { ApiTokenFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const API_TOKENS = 'api-tokens'
export const API_TOKEN_TOTALS = 'api-token-totals-2'

export interface ApiTokenDocument extends ApiTokenFacts {
  readonly name: Envelope
}

export const apiTokensIn = typedDocuments<ApiTokenDocument>(API_TOKENS)
