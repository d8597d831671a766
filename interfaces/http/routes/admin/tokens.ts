import * as E from 'fp-ts/lib/Either.js'
import type { RevokeToken } from '../../../../application/tokens/commands/revoke-token.ts'
import type { ListAllTokens, OwnedToken } from '../../../../application/tokens/queries/list-all-tokens.ts'
import { list, messageView, presentPage } from '../../codecs/presenters.ts'
import { ofUserQuery, pageOf, pathId } from '../../codecs/request-codecs.ts'
import { ownedTokenView, presentToken } from '../../codecs/token-codecs.ts'
import { UNAVAILABLE } from '../../errors.ts'
import { privateRoute, type Route } from '../../route.ts'

export interface AdminTokenCalls {
  readonly listAllTokens: ListAllTokens
  readonly revokeAnyToken: RevokeToken
}

const presentOwned = (token: OwnedToken) => ({
  ...presentToken(token),
  user_id: token.userId,
  username: token.username,
})

const listAllTokens = privateRoute(
  'admin',
  {
    operationId: 'listAllTokens',
    summary: 'List the API tokens of all users, newest first',
    method: 'GET',
    path: '/admin/tokens',
    query: ofUserQuery,
    response: { codec: list(ownedTokenView) },
    refusals: UNAVAILABLE,
  },
  async ({ query }, calls: AdminTokenCalls) => {
    const page = pageOf(query)
    const tokens = await calls.listAllTokens(query.user_id, page)
    return E.isLeft(tokens) ? tokens : E.right(await presentPage(tokens.right, page, presentOwned))
  },
)

const revokeAnyToken = privateRoute(
  'admin',
  {
    operationId: 'deleteAnyToken',
    summary: 'Revoke an API token of any user permanently',
    method: 'DELETE',
    path: '/admin/tokens/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['ApiTokenNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: AdminTokenCalls) => {
    const revoked = await calls.revokeAnyToken(caller, params.id)
    return E.isLeft(revoked) ? revoked : E.right({ message: 'Token revoked' })
  },
)

export const adminTokenRoutes: ReadonlyArray<Route<AdminTokenCalls>> = [listAllTokens, revokeAnyToken]
