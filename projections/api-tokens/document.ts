import type { ApiTokenFacts } from '../../application/ports/read-models.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { typedDocuments } from '../typed-documents.ts'

export const API_TOKENS = 'api-tokens'
export const API_TOKEN_TOTALS = 'api-token-totals'
/** Id of the only document of the totals. */
export const ALL_API_TOKENS = 'all'

export interface ApiTokenDocument extends ApiTokenFacts {
  readonly name: Envelope
}

export interface ApiTokenTotalsDocument {
  readonly count: number
}

export const apiTokenTotalsIn = typedDocuments<ApiTokenTotalsDocument>(API_TOKEN_TOTALS)
export const apiTokensIn = typedDocuments<ApiTokenDocument>(API_TOKENS)
