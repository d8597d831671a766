import {
  apiTokenEvents, ApiTokenIssued, ApiTokenRevoked, ApiTokenUsed, type StoredApiTokenEvent,
} from '../../domain/api-token/events.ts'
import { defineProjection } from '../projection.ts'
import { defineTotals } from '../totals.ts'
import { API_TOKEN_TOTALS, API_TOKENS, type ApiTokenDocument } from './document.ts'

const project = (token: ApiTokenDocument | null, event: StoredApiTokenEvent): ApiTokenDocument | null => {
  switch (event.type) {
    case 'ApiTokenIssued': {
      const { tokenId, userId, name, prefix, expiresAt, at } = event.data
      return { id: tokenId, userId, name, prefix, isActive: true, expiresAt, lastUsedAt: null, createdAt: at }
    }
    case 'ApiTokenRenamed':
      return token && { ...token, name: event.data.name }
    case 'ApiTokenDeactivated':
      return token && { ...token, isActive: false }
    case 'ApiTokenActivated':
      return token && { ...token, isActive: true }
    case 'ApiTokenUsed':
      return token && { ...token, lastUsedAt: event.data.at }
    case 'ApiTokenRevoked':
      return null
    default:
      return event satisfies never
  }
}

export const apiTokens = defineProjection({
  name: 'api-tokens',
  collection: { name: API_TOKENS, indexes: [['id'], ['userId', 'id'], ['prefix', 'id']] },
  prefixes: ['api-token-', 'token-use-'],
  events: [...apiTokenEvents, ApiTokenUsed],
  touches: (event) => [String(event.data.tokenId)],
  project,
})

/** The number of API tokens of all users. */
export const apiTokenTotals = defineTotals({
  name: API_TOKEN_TOTALS, prefixes: ['api-token-'], created: ApiTokenIssued, deleted: ApiTokenRevoked,
  idOf: (event) => event.data.tokenId,
})
