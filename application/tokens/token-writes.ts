import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { apiTokenDecider } from '../../domain/api-token/decider.ts'
import type { ApiToken, ApiTokenCommand, ApiTokenRefusal, ApiTokenState } from '../../domain/api-token/decider.ts'
import { apiTokenStream } from '../../domain/api-token/events.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { Unavailable } from '../errors.ts'
import { createKnownStates, handleCommand } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Projector } from '../ports/projector.ts'
import type { ApiTokenView } from '../ports/read-models.ts'
import { createTurns } from '../turns.ts'
import type { KnownToken, TokenDirectory } from './policies/token-directory.ts'

export interface TokenWriteDeps extends WriteDeps {
  readonly tokens: Pick<TokenDirectory, 'byId' | 'countOf' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

/** What the commands of API tokens share. */
export interface TokenWrites {
  /** Answers once the directory knows, so that what was switched off is refused from then on. */
  readonly send: (
    caller: Caller,
    tokenId: number,
    command: ApiTokenCommand,
    commandId: string,
  ) => TaskEither<ApiTokenRefusal | Unavailable, ApiTokenState>
  /** How many a user has, those included that the directory did not know when their issue was answered. */
  readonly countOf: (userId: number) => number
}

/** Tokens whose state stays in memory: a history only grows. */
const MOST_KNOWN = 500

/** One a process. */
export const openTokenWrites = (deps: TokenWriteDeps): TokenWrites => {
  const { tokens, projector } = deps
  const handle = handleCommand(deps)
  const inTurn = createTurns()
  const knownStates = createKnownStates<ApiTokenState>(MOST_KNOWN)
  /** By id, whose: issued, and not known to the directory when the issue was answered. */
  const unseen = new Map<number, number>()

  return {
    send: (caller, tokenId, command, commandId) => async () => {
      const stream = apiTokenStream(tokenId)
      const about = { commandId, correlationId: commandId, actor: actorOf(caller) }
      const handled = await inTurn(stream, handle({ stream, decider: apiTokenDecider, command, knownStates, ...about }))
      if (E.isLeft(handled)) return handled
      const { position, state } = handled.right
      if (position !== null) await Promise.all([tokens.whenSeen(position), projector.whenProjected(position)])
      if (command.type === 'Issue') unseen.set(tokenId, command.data.userId)
      if (command.type === 'Revoke') unseen.delete(tokenId)
      return E.right(state)
    },

    countOf: (userId) => {
      for (const tokenId of unseen.keys()) if (O.isSome(tokens.byId(tokenId))) unseen.delete(tokenId)
      return tokens.countOf(userId) + [...unseen.values()].filter((owner) => owner === userId).length
    },
  }
}

/** Whose token it must be: the operator's word counts for anybody's. None where no user has it. */
export const ownerOf = (
  { byId }: Pick<TokenDirectory, 'byId'>,
  { credential, userId }: Caller,
  tokenId: number,
): number | undefined =>
  credential === 'operator' ? O.toUndefined(O.map((known: KnownToken) => known.userId)(byId(tokenId))) : userId

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
