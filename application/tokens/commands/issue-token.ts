import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { MAX_API_TOKENS } from '../../../domain/api-token/rules.ts'
import { sequenceStream } from '../../../domain/shared/sequence.ts'
import { actorOf, type Caller } from '../../caller.ts'
import type { Contended, ExpiryNotInFuture, TooManyApiTokens, Unavailable } from '../../refusals.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import { nextId } from '../../log/next-id.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { ApiTokenView } from '../../ports/read-models.ts'
import { createTurns } from '../../turns.ts'
import { tokenViewOf, type TokenWrites } from '../token-writes.ts'

export interface NewApiToken {
  readonly name: string
  /** An instant in the form of the interface. Null: the token never expires. */
  readonly expiresAt: string | null
}

export interface IssuedToken {
  readonly token: ApiTokenView
  readonly secret: string
}

/** Issues a token. Only this answer contains the secret. */
export type IssueToken = (
  caller: Caller,
  token: NewApiToken,
) => Promise<Either<ExpiryNotInFuture | TooManyApiTokens | Unavailable, IssuedToken>>

export interface IssueTokenDeps extends WriteDeps, TokenWrites {
  readonly credentials: Pick<Credentials, 'newApiToken'>
}

const tooMany: TooManyApiTokens = { _tag: 'TooManyApiTokens', maximum: MAX_API_TOKENS }
/** Another writer used the id of the token first, so the request can be repeated. */
const idTaken: Contended = { _tag: 'Contended', stream: sequenceStream('api-token') }

const issue =
  (deps: IssueTokenDeps): IssueToken =>
  async (caller, { name, expiresAt }) => {
    const { environment, credentials, countOf, send } = deps
    const { userId } = caller
    if ((await countOf(userId)) >= MAX_API_TOKENS) return E.left(tooMany)
    const commandId = environment.newId()
    const cause = { correlationId: commandId, causationId: commandId, actor: actorOf(caller) }
    const tokenId = await nextId(deps)('api-token', cause)
    if (E.isLeft(tokenId)) return tokenId
    const { secret, prefix, hash } = credentials.newApiToken()
    const data = { tokenId: tokenId.right, userId, name, prefix, secretHash: hash, expiresAt }
    const issued = await send(caller, tokenId.right, { type: 'Issue', data }, commandId)
    if (E.isLeft(issued)) return E.left(mapRefusal(issued.left, { TokenExists: idTaken }))
    const token = issued.right
    return token.status === 'issued' ? E.right({ token: tokenViewOf(token, null), secret }) : E.left(idTaken)
  }

export const issueToken = (deps: IssueTokenDeps): IssueToken => {
  const inTurn = createTurns()
  // The tokens of a user are issued one after another, so concurrent requests cannot exceed the limit.
  return (caller, token) => inTurn(`user-${caller.userId}`, () => issue(deps)(caller, token))
}
