import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { ApiToken, ApiTokenCommand, ApiTokenRefusals, ApiTokenState } from '../../domain/api-token/decider.ts'
import { apiTokenStream } from '../../domain/api-token/events.ts'
import type { CommandOf } from '../../domain/shared/decider.ts'
import { actorOf, type Caller } from '../caller.ts'
import type { Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { sendToToken } from '../log/send-to.ts'
import { createLruCache } from '../lru-cache.ts'
import { type Projector, TOKEN_LISTS } from '../ports/projector.ts'
import type { ApiTokenView, IdsOfUser } from '../ports/read-models.ts'
import { createTurns } from '../turns.ts'
import type { TokenDirectory } from './policies/token-directory.ts'

export interface TokenWriteDeps extends WriteDeps {
  readonly tokens: Pick<TokenDirectory, 'whenSeen'>
  readonly tokenIdsOf: IdsOfUser
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** Functions that the commands of API tokens share. */
export interface TokenWrites {
  /** Sends a command. Returns once the directory has received the change, so a deactivated token is then refused. */
  readonly send: <Type extends ApiTokenCommand['type']>(
    caller: Caller,
    tokenId: number,
    command: CommandOf<ApiTokenCommand, Type>,
    commandId: string,
  ) => Promise<Either<ApiTokenRefusals[Type] | Unavailable, ApiTokenState>>
  /**
   * Counts the tokens of a user. Includes tokens that this process issued or revoked but the read models do not show
   * yet. When the read models are unavailable, only those tokens are counted.
   */
  readonly countOf: (userId: number) => Promise<number>
}

/** Maximum number of recently issued or revoked tokens that are kept because the read models may not show them yet. */
const MAX_UNLISTED = 10_000

/** Creates the writer of API tokens. Create only one writer in each process. */
export const openTokenWrites = (deps: TokenWriteDeps): TokenWrites => {
  const { tokens, tokenIdsOf, projector } = deps
  const sendNow = sendToToken(deps)
  const inTurn = createTurns()
  /** Tokens that this process issued or revoked, by id. The read models may not show them yet. */
  const unlisted = createLruCache<number, { readonly owner: number; readonly isIssued: boolean }>(MAX_UNLISTED)

  return {
    send: async (caller, tokenId, command, commandId) => {
      const origin = { commandId, correlationId: commandId, actor: actorOf(caller) }
      const handled = await inTurn(apiTokenStream(tokenId), () => sendNow(tokenId, command, origin))
      if (E.isLeft(handled)) return handled
      const { position, state, events } = handled.right
      if (position !== null)
        await Promise.all([tokens.whenSeen(position), projector.whenProjected(TOKEN_LISTS, position)])
      for (const { type, data } of events) {
        if (type === 'ApiTokenIssued') unlisted.set(tokenId, { owner: data.userId, isIssued: true })
        if (type === 'ApiTokenRevoked') unlisted.set(tokenId, { owner: data.userId, isIssued: false })
      }
      return E.right(state)
    },

    countOf: async (userId) => {
      const listed = await tokenIdsOf(userId)
      const ids = new Set(E.isRight(listed) ? listed.right : [])
      for (const [tokenId, { owner, isIssued }] of unlisted.entries()) {
        if (owner !== userId) continue
        if (E.isRight(listed) && ids.has(tokenId) === isIssued) unlisted.delete(tokenId)
        else if (isIssued) ids.add(tokenId)
        else ids.delete(tokenId)
      }
      return ids.size
    },
  }
}

/** Returns the owner of a token. None when the token is unknown. */
export const anyOwnerOf = async (
  { byId }: Pick<TokenDirectory, 'byId'>,
  tokenId: number,
): Promise<Either<Unavailable, Option<number>>> =>
  pipe(await byId(tokenId), E.map(O.map((token: ApiToken) => token.userId)))

/** Returns the user who must own the token. If the caller is the operator, this is its owner, otherwise the caller. */
export const ownerOf = async (
  tokens: Pick<TokenDirectory, 'byId'>,
  { credential, userId }: Caller,
  tokenId: number,
): Promise<Either<Unavailable, Option<number>>> =>
  credential === 'operator' ? anyOwnerOf(tokens, tokenId) : E.right(O.some(userId))

export const tokenViewOf = (token: ApiToken, lastUsedAt: string | null): ApiTokenView => ({
  id: token.tokenId,
  userId: token.userId,
  name: token.name,
  prefix: token.prefix,
  isActive: token.isActive,
  expiresAt: token.expiresAt,
  lastUsedAt,
  createdAt: token.createdAt,
})
