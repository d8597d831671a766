import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import type { Decider } from '../shared/decider.ts'
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
  | { readonly type: 'Issue'; readonly data: IssuedData }
  /** Sent by the user `userId`. Missing members stay unchanged. */
  | {
      readonly type: 'Change'
      readonly userId: number
      readonly name?: string
      readonly isActive?: boolean
      readonly at: string
    }
  | { readonly type: 'Revoke'; readonly userId: number; readonly at: string }

export type ApiTokenRefusal =
  | { readonly _tag: 'TokenExists' }
  /** The token was never issued, is revoked, or belongs to another user. */
  | { readonly _tag: 'TokenUnknown' }
  | { readonly _tag: 'ExpiryNotInFuture' }

type Decision = Either<ApiTokenRefusal, ReadonlyArray<ApiTokenEvent>>
type CommandOf<Type extends ApiTokenCommand['type']> = Extract<ApiTokenCommand, { readonly type: Type }>

const change = ({ name, isActive, at }: CommandOf<'Change'>, token: ApiToken): ReadonlyArray<ApiTokenEvent> => {
  const common = { tokenId: token.tokenId, userId: token.userId, at }
  const renamed: ReadonlyArray<ApiTokenEvent> =
    name === undefined || name === token.name ? [] : [{ type: 'ApiTokenRenamed', data: { ...common, name } }]
  if (isActive === undefined || isActive === token.isActive) return renamed
  return [...renamed, { type: isActive ? 'ApiTokenActivated' : 'ApiTokenDeactivated', data: common }]
}

const decide = (command: ApiTokenCommand, state: ApiTokenState): Decision => {
  if (command.type === 'Issue') {
    if (state.status !== 'none') return E.left({ _tag: 'TokenExists' })
    if (hasExpired(command.data.expiresAt, command.data.at)) return E.left({ _tag: 'ExpiryNotInFuture' })
    return E.right([{ type: 'ApiTokenIssued', data: command.data }])
  }
  if (state.status !== 'issued' || state.userId !== command.userId) return E.left({ _tag: 'TokenUnknown' })
  if (command.type === 'Change') return E.right(change(command, state))
  return E.right([{ type: 'ApiTokenRevoked', data: { tokenId: state.tokenId, userId: state.userId, at: command.at } }])
}

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
export const apiTokenDecider: Decider<ApiTokenState, ApiTokenCommand, ApiTokenEvent, ApiTokenRefusal> = {
  initialState: { status: 'none' },
  evolve,
  decide,
  snapshots: {
    version: 1,
    codec: apiTokenState,
    keyOf: (state) => (state.status === 'issued' ? userKey(state.userId) : null),
    isKept: false,
  },
}
