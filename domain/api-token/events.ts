import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent, type EventOf, type StoredEventOf } from '../shared/event.ts'
import { userKey } from '../user/events.ts'

export const apiTokenStream = (tokenId: number): string => `api-token-${tokenId}`
/** Holds the newest use of a token. It is separate from the token's own stream, so commands need not read the uses. */
export const tokenUseStream = (tokenId: number): string => `token-use-${tokenId}`

const common = { tokenId: id, userId: id, at: instant }

export const ApiTokenIssued = definePersonalEvent(
  'ApiTokenIssued',
  t.strict({
    ...common,
    name: t.string,
    /** The public part of the secret. It identifies the token. */
    prefix: t.string,
    /** SHA-256 of the secret, base64url. A fast hash is safe for 256 random bits. The secret itself is not stored. */
    secretHash: t.string,
    /** Null: the token never expires. */
    expiresAt: t.union([instant, t.null]),
  }),
  ['name'],
  (data) => userKey(data.userId),
)
export const ApiTokenRenamed = definePersonalEvent(
  'ApiTokenRenamed',
  t.strict({ ...common, name: t.string }),
  ['name'],
  (data) => userKey(data.userId),
)
export const ApiTokenDeactivated = defineEvent('ApiTokenDeactivated', t.strict(common))
export const ApiTokenActivated = defineEvent('ApiTokenActivated', t.strict(common))
export const ApiTokenRevoked = defineEvent('ApiTokenRevoked', t.strict(common))

export const ApiTokenUsed = defineEvent('ApiTokenUsed', t.strict(common))
export type ApiTokenUsed = EventOf<typeof ApiTokenUsed>

export const apiTokenEvents = [
  ApiTokenIssued, ApiTokenRenamed, ApiTokenDeactivated, ApiTokenActivated, ApiTokenRevoked,
] as const
export type ApiTokenEvent = EventOf<(typeof apiTokenEvents)[number]>
export type StoredApiTokenEvent = StoredEventOf<(typeof apiTokenEvents)[number] | typeof ApiTokenUsed>
