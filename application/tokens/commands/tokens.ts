import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { apiTokenDecider } from '../../../domain/api-token/decider.ts'
import type { ApiToken, ApiTokenCommand, ApiTokenRefusal, ApiTokenState } from '../../../domain/api-token/decider.ts'
import { ApiTokenIssued, ApiTokenRenamed, apiTokenStream } from '../../../domain/api-token/events.ts'
import { MAX_API_TOKENS } from '../../../domain/api-token/rules.ts'
import { userKey } from '../../../domain/user/events.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { ApiTokenNotFound, ExpiryNotInFuture, TooManyApiTokens, Unavailable } from '../../errors.ts'
import { createKnownStates, handleCommand } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { textOrErased } from '../../../domain/shared/erased.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Documents } from '../../ports/documents.ts'
import type { Projector } from '../../ports/projector.ts'
import { API_TOKENS } from '../../ports/read-models.ts'
import type { ApiTokenDocument, ApiTokenView } from '../../ports/read-models.ts'
import { nextId } from '../../log/next-id.ts'
import type { NewApiToken } from '../../requests.ts'
import type { Services } from '../../services.ts'
import { createTurns } from '../../turns.ts'
import type { KnownToken, TokenDirectory } from '../policies/token-directory.ts'

export interface TokenDeps extends WriteDeps {
  readonly credentials: Pick<Credentials, 'newApiToken'>
  readonly documents: Pick<Documents, 'page'>
  readonly tokens: Pick<TokenDirectory, 'byId' | 'countOf' | 'whenSeen'>
  readonly projector: Pick<Projector, 'whenProjected'>
}

type Tokens = Pick<Services, 'listTokens' | 'issueToken' | 'changeToken' | 'revokeToken'>

/** Tokens whose state stays in memory: a history only grows. */
const MOST_KNOWN = 500

/** What a token's name was sealed as. */
const NAMES = [`${ApiTokenIssued.type}.name`, `${ApiTokenRenamed.type}.name`]

const notFound: ApiTokenNotFound = { _tag: 'ApiTokenNotFound' }
const tooMany: TooManyApiTokens = { _tag: 'TooManyApiTokens', maximum: MAX_API_TOKENS }

/** A refusal in the words of the routes; one without a meaning cannot come of the command. */
const told = <R>(
  left: ApiTokenRefusal | Unavailable,
  meanings: Partial<Record<ApiTokenRefusal['_tag'], R>>,
): E.Either<R | Unavailable, never> => {
  switch (left._tag) {
    case 'TokenExists':
    case 'TokenUnknown':
    case 'ExpiryNotInFuture': {
      const meaning = meanings[left._tag]
      if (meaning === undefined) throw new Error(`an API token refused with ${left._tag}`)
      return E.left(meaning)
    }
    default:
      return E.left(left)
  }
}

const viewOf = (token: ApiToken, lastUsedAt: string | null): ApiTokenView => ({
  id: token.tokenId,
  userId: token.userId,
  name: token.name,
  prefix: token.prefix,
  isActive: token.isActive,
  expiresAt: token.expiresAt,
  lastUsedAt,
  createdAt: token.createdAt,
})

/** The API tokens of users. An answer waits until the directory knows, so that what was switched off is refused from then on. */
export const createTokens = (deps: TokenDeps): Tokens => {
  const { environment, credentials, keyring, documents, tokens, projector } = deps
  const handle = handleCommand(deps)
  const inTurn = createTurns()
  const knownStates = createKnownStates<ApiTokenState>(MOST_KNOWN)

  const send = (
    caller: Caller, tokenId: number, command: ApiTokenCommand, commandId: string,
  ): TaskEither<ApiTokenRefusal | Unavailable, ApiTokenState> =>
    async () => {
      const stream = apiTokenStream(tokenId)
      const about = { commandId, correlationId: commandId, actor: actorOf(caller) }
      const handled = await inTurn(stream, handle({ stream, decider: apiTokenDecider, command, knownStates, ...about }))
      if (E.isLeft(handled)) return handled
      const { position, state } = handled.right
      if (position !== null) await Promise.all([tokens.whenSeen(position), projector.whenProjected(position)])
      return E.right(state)
    }

  /** By id, whose: issued, and not known to the directory when the issue was answered. */
  const unseen = new Map<number, number>()

  const countOf = (userId: number): number => {
    for (const tokenId of unseen.keys()) if (O.isSome(tokens.byId(tokenId))) unseen.delete(tokenId)
    return tokens.countOf(userId) + [...unseen.values()].filter((owner) => owner === userId).length
  }

  /** Whose token it must be: the operator's word counts for anybody's. None where no user has it. */
  const ownerOf = ({ credential, userId }: Caller, tokenId: number): number | undefined =>
    credential === 'operator' ? O.toUndefined(O.map((known: KnownToken) => known.userId)(tokens.byId(tokenId))) : userId

  const issue = (caller: Caller, { name, expiresAt }: NewApiToken): ReturnType<Tokens['issueToken']> => async () => {
    const { userId } = caller
    if (countOf(userId) >= MAX_API_TOKENS) return E.left(tooMany)
    const commandId = environment.newId()
    const tokenId = await nextId(deps)('api-token', { correlationId: commandId, causationId: commandId, actor: actorOf(caller) })()
    if (E.isLeft(tokenId)) return tokenId
    const { secret, prefix, hash } = credentials.newApiToken()
    const data = { tokenId: tokenId.right, userId, name, prefix, secretHash: hash, expiresAt, at: environment.now() }
    const issued = await send(caller, tokenId.right, { type: 'Issue', data }, commandId)()
    if (E.isLeft(issued)) return told<ExpiryNotInFuture>(issued.left, { ExpiryNotInFuture: { _tag: 'ExpiryNotInFuture' } })
    unseen.set(tokenId.right, userId)
    return E.right({ token: viewOf({ ...data, status: 'issued', isActive: true, createdAt: data.at }, null), secret })
  }

  return {
    listTokens: ({ userId }, { skip, limit }) => async () => {
      const total = tokens.countOf(userId)
      if (skip >= total) return E.right({ items: [], total })
      const found = await documents.page(API_TOKENS, { filter: { userId }, sort: { by: 'id', direction: 'descending' }, skip, limit })()
      if (E.isLeft(found)) return found
      // A collection holds what its projection alone wrote into it, so its type is the projection's.
      const sealed = found.right.map((document) => document as unknown as ApiTokenDocument)
      const key = userKey(userId)
      const members = sealed.map(({ id, name: envelope }) => ({ envelope, key, stream: apiTokenStream(id), members: NAMES }))
      const names = await keyring.open(members)()
      if (E.isLeft(names)) return names
      const items = sealed.map((token, index) => ({ ...token, name: textOrErased(names.right[index]) }))
      return E.right({ items, total })
    },

    // The tokens of one user one after another: those who are issued at once must not pass the limit.
    issueToken: (caller, request) => () => inTurn(`user-${caller.userId}`, issue(caller, request)),

    changeToken: (caller, tokenId, change) => async () => {
      const userId = ownerOf(caller, tokenId)
      if (userId === undefined) return E.left(notFound)
      const command = { type: 'Change', userId, ...change, at: environment.now() } as const
      const changed = await send(caller, tokenId, command, environment.newId())()
      if (E.isLeft(changed)) return told(changed.left, { TokenUnknown: notFound })
      if (changed.right.status !== 'issued') return E.left(notFound)
      const lastUsedAt = O.toNullable(O.map((known: KnownToken) => known.lastUsedAt)(tokens.byId(tokenId)))
      return E.right(viewOf(changed.right, lastUsedAt))
    },

    revokeToken: (caller, tokenId) => async () => {
      const userId = ownerOf(caller, tokenId)
      if (userId === undefined) return E.left(notFound)
      const command = { type: 'Revoke', userId, at: environment.now() } as const
      const revoked = await send(caller, tokenId, command, environment.newId())()
      if (E.isLeft(revoked)) return told(revoked.left, { TokenUnknown: notFound })
      unseen.delete(tokenId)
      return E.right(undefined)
    },
  }
}
