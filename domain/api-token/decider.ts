import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { decideBy, type DeciderByCommand, type Decisions } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import { userKey } from '../user/events.ts'
import { hasExpired } from './rules.ts'
import type { ApiTokenEvent, ApiTokenIssued } from './events.ts'

type IssuedData = EventOf<typeof ApiTokenIssued>['data']

export interface ApiToken extends Omit<IssuedData, 'at'> {
  readonly status: 'issued'
  readonly isActive: boolean
  readonly createdAt: string
}

export type ApiTokenState = { readonly status: 'none' } | { readonly status: 'revoked' } | ApiToken

export type ApiTokenCommand =
  | { readonly type: 'Issue'; readonly data: Omit<IssuedData, 'at'> }
  /** Sent by the user `userId`. Missing members stay unchanged. */
  | { readonly type: 'Change'; readonly userId: number; readonly name?: string; readonly isActive?: boolean }
  | { readonly type: 'Revoke'; readonly userId: number }

interface TokenExists { readonly _tag: 'TokenExists' }
export interface ExpiryNotInFuture { readonly _tag: 'ExpiryNotInFuture' }
/** The token was never issued, is revoked, or belongs to another user. */
interface TokenUnknown { readonly _tag: 'TokenUnknown' }

export interface ApiTokenRefusals {
  readonly Issue: TokenExists | ExpiryNotInFuture
  readonly Change: TokenUnknown
  readonly Revoke: TokenUnknown
}

type Rules = Decisions<ApiTokenState, ApiTokenCommand, ApiTokenEvent, ApiTokenRefusals>

const unknown = E.left({ _tag: 'TokenUnknown' } as const)

const isOf = (state: ApiTokenState, userId: number): state is ApiToken =>
  state.status === 'issued' && state.userId === userId

const issue: Rules['Issue'] = ({ data, at }, state) => {
  if (state.status !== 'none') return E.left({ _tag: 'TokenExists' })
  if (hasExpired(data.expiresAt, at)) return E.left({ _tag: 'ExpiryNotInFuture' })
  return E.right([{ type: 'ApiTokenIssued', data: { ...data, at } }])
}

const change: Rules['Change'] = ({ userId, name, isActive, at }, token) => {
  if (!isOf(token, userId)) return unknown
  const common = { tokenId: token.tokenId, userId, at }
  const renamed: ReadonlyArray<ApiTokenEvent> =
    name === undefined || name === token.name ? [] : [{ type: 'ApiTokenRenamed', data: { ...common, name } }]
  if (isActive === undefined || isActive === token.isActive) return E.right(renamed)
  return E.right([...renamed, { type: isActive ? 'ApiTokenActivated' : 'ApiTokenDeactivated', data: common }])
}

const revoke: Rules['Revoke'] = ({ userId, at }, token) =>
  isOf(token, userId) ? E.right([{ type: 'ApiTokenRevoked', data: { tokenId: token.tokenId, userId, at } }]) : unknown

const evolve = (state: ApiTokenState, event: ApiTokenEvent): ApiTokenState => {
  if (event.type === 'ApiTokenIssued') {
    const { at, ...data } = event.data
    return { ...data, status: 'issued', isActive: true, createdAt: at }
  }
  if (state.status !== 'issued') return state
  switch (event.type) {
    case 'ApiTokenRenamed':
      return { ...state, name: event.data.name }
    case 'ApiTokenDeactivated':
      return { ...state, isActive: false }
    case 'ApiTokenActivated':
      return { ...state, isActive: true }
    case 'ApiTokenRevoked':
      return { status: 'revoked' }
  }
}

const apiTokenState: t.Type<ApiTokenState, unknown> = t.union([
  t.strict({ status: t.keyof({ none: null, revoked: null }) }),
  t.strict({
    status: t.literal('issued'),
    tokenId: id,
    userId: id,
    name: t.string,
    prefix: t.string,
    secretHash: t.string,
    expiresAt: t.union([instant, t.null]),
    isActive: t.boolean,
    createdAt: instant,
  }),
])

/** One API token. Its user can rename it, switch it off and on, and revoke it. */
export const apiTokenDecider: DeciderByCommand<ApiTokenState, ApiTokenCommand, ApiTokenEvent, ApiTokenRefusals> = {
  initialState: { status: 'none' },
  evolve,
  decide: decideBy({ Issue: issue, Change: change, Revoke: revoke }),
  snapshots: {
    version: 1,
    codec: apiTokenState,
    keyOf: (state) => (state.status === 'issued' ? userKey(state.userId) : null),
    isKept: false,
  },
}
