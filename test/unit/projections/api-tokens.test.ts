import test from 'ava'
import type { StoredApiTokenEvent } from '../../../domain/api-token/events.ts'
import { apiTokens } from '../../../projections/api-tokens/projection.ts'
import { after } from '../../support/events/sample-events.ts'
import { envelopeOf } from '../../support/events/stored-events.ts'
import { specifyProjection } from '../../support/read-models/specify-projection.ts'

const about = (at: number, tokenId = 4) => ({ tokenId, userId: 3, at: after(at) })
const issued: StoredApiTokenEvent = {
  type: 'ApiTokenIssued',
  data: {
    ...about(0),
    name: envelopeOf('ci', 'user-3'),
    prefix: 'lt_abcdefghijkl',
    secretHash: 'a hash',
    expiresAt: after(5000),
  },
}
const listed = {
  id: 4,
  userId: 3,
  name: envelopeOf('ci', 'user-3'),
  prefix: 'lt_abcdefghijkl',
  isActive: true,
  expiresAt: after(5000),
  lastUsedAt: null,
  createdAt: after(0),
}
const used = (at: number): StoredApiTokenEvent => ({ type: 'ApiTokenUsed', data: about(at) })

test('an issued token is listed without its hash', async (t) => {
  await specifyProjection(t, apiTokens).given(issued).thenDocuments({ 4: listed })
})

test('a token shows its name and whether it is active', async (t) => {
  const off: StoredApiTokenEvent = { type: 'ApiTokenDeactivated', data: about(1000) }
  await specifyProjection(t, apiTokens).given(issued, off).thenDocuments({ 4: { ...listed, isActive: false } })
  await specifyProjection(t, apiTokens)
    .given(
      issued,
      off,
      { type: 'ApiTokenActivated', data: about(2000) },
      { type: 'ApiTokenRenamed', data: { ...about(3000), name: envelopeOf('b') } },
    )
    .thenDocuments({ 4: { ...listed, name: envelopeOf('b') } })
})

test('a token shows its last use', async (t) => {
  await specifyProjection(t, apiTokens)
    .given(issued, used(1000), used(70_000))
    .thenDocuments({ 4: { ...listed, lastUsedAt: after(70_000) } })
})

test('a revoked token disappears from the list, even if its use arrives later', async (t) => {
  await specifyProjection(t, apiTokens)
    .given(issued, { type: 'ApiTokenRevoked', data: about(1000) }, used(2000))
    .thenDocuments({})
})
