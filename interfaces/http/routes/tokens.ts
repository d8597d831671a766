import * as E from 'fp-ts/lib/Either.js'
import { UNAVAILABLE } from '../errors.ts'
import { list, messageView, presentPage, single } from '../codecs/presenters.ts'
import { pageOf, pageQuery, pathId } from '../codecs/request-codecs.ts'
import { privateRoute, type Route } from '../route.ts'
import type { ChangeToken } from '../../../application/tokens/commands/change-token.ts'
import type { IssueToken } from '../../../application/tokens/commands/issue-token.ts'
import type { RevokeToken } from '../../../application/tokens/commands/revoke-token.ts'
import type { ListTokens } from '../../../projections/api-tokens/queries.ts'
import {
  issuedTokenView, newTokenBody, presentToken, tokenChange, tokenChangeBody, tokenView,
} from '../codecs/token-codecs.ts'

export interface TokenCalls {
  readonly listTokens: ListTokens
  readonly issueToken: IssueToken
  readonly changeToken: ChangeToken
  readonly revokeToken: RevokeToken
}

const listTokens = privateRoute(
  'private',
  {
    operationId: 'listTokens',
    summary: 'List your API tokens, newest first',
    method: 'GET',
    path: '/tokens',
    operator: 'as-named-user',
    query: pageQuery,
    response: { codec: list(tokenView) },
    refusals: UNAVAILABLE,
  },
  async ({ query, caller }, calls: TokenCalls) => {
    const page = pageOf(query)
    const tokens = await calls.listTokens(caller.userId, page)
    return E.isLeft(tokens) ? tokens : E.right(await presentPage(tokens.right, page, presentToken))
  },
)

/** Needs a login, because a leaked token must not create further tokens or activate itself again. */
const issueToken = privateRoute(
  'login',
  {
    operationId: 'createToken',
    summary: 'Create an API token, at most 100 for each user; only this response contains its secret',
    method: 'POST',
    path: '/tokens',
    operator: 'as-named-user',
    body: { kind: 'json', codec: newTokenBody },
    response: { codec: single(issuedTokenView) },
    refusals: ['ExpiryNotInFuture', 'TooManyApiTokens', ...UNAVAILABLE],
  },
  async ({ body, caller }, calls: TokenCalls) => {
    const issued = await calls.issueToken(caller, { name: body.name, expiresAt: body.expires_at })
    if (E.isLeft(issued)) return issued
    const { token, secret } = issued.right
    return E.right({ data: { ...presentToken(token), token: secret } })
  },
)

const changeToken = privateRoute(
  'login',
  {
    operationId: 'changeToken',
    summary: 'Rename an API token, or switch it off or on',
    method: 'PUT',
    path: '/tokens/:id',
    operator: 'for-any-user',
    params: pathId,
    body: { kind: 'json', codec: tokenChangeBody },
    response: { codec: single(tokenView) },
    refusals: ['ApiTokenNotFound', ...UNAVAILABLE],
  },
  async ({ params, body, caller }, calls: TokenCalls) => {
    const token = await calls.changeToken(caller, params.id, tokenChange(body))
    return E.isLeft(token) ? token : E.right({ data: presentToken(token.right) })
  },
)

const revokeToken = privateRoute(
  'private',
  {
    operationId: 'deleteToken',
    summary: 'Revoke one of your API tokens permanently',
    method: 'DELETE',
    path: '/tokens/:id',
    operator: 'for-any-user',
    params: pathId,
    response: { codec: messageView },
    refusals: ['ApiTokenNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: TokenCalls) => {
    const revoked = await calls.revokeToken(caller, params.id)
    return E.isLeft(revoked) ? revoked : E.right({ message: 'Token revoked' })
  },
)

export const tokenRoutes: ReadonlyArray<Route<TokenCalls>> = [listTokens, issueToken, changeToken, revokeToken]
