import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../caller.ts'
import type { ApiTokenNotFound, Unavailable } from '../../errors.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ApiTokenView } from '../../ports/read-models.ts'
import type { TokenDirectory } from '../policies/token-directory.ts'
import type { TokenUses } from '../policies/token-uses.ts'
import { ownerOf, tokenViewOf } from '../token-writes.ts'
import type { TokenWrites } from '../token-writes.ts'

/** What of a token changes: the members that were sent. */
export interface ApiTokenChange {
  readonly name?: string
  readonly isActive?: boolean
}

export type ChangeToken = (
  caller: Caller,
  tokenId: number,
  change: ApiTokenChange,
) => TaskEither<ApiTokenNotFound | Unavailable, ApiTokenView>

export interface ChangeTokenDeps extends Pick<TokenWrites, 'send'> {
  readonly environment: Pick<Environment, 'newId' | 'now'>
  readonly tokens: Pick<TokenDirectory, 'byId'>
  readonly uses: Pick<TokenUses, 'lastUseOf'>
}

const notFound: ApiTokenNotFound = { _tag: 'ApiTokenNotFound' }

export const changeToken =
  ({ environment, tokens, uses, send }: ChangeTokenDeps): ChangeToken =>
  (caller, tokenId, change) =>
  async () => {
    const owner = await ownerOf(tokens, caller, tokenId)()
    if (E.isLeft(owner)) return owner
    if (O.isNone(owner.right)) return E.left(notFound)
    const command = { type: 'Change', userId: owner.right.value, ...change, at: environment.now() } as const
    const changed = await send(caller, tokenId, command, environment.newId())()
    if (E.isLeft(changed)) {
      const meanings = { TokenUnknown: notFound, TokenExists: null, ExpiryNotInFuture: null }
      return E.left(meaningOf('an API token', changed.left, meanings))
    }
    if (changed.right.status !== 'issued') return E.left(notFound)
    const { right: token } = changed
    return E.map((lastUsedAt: string | null) => tokenViewOf(token, lastUsedAt))(await uses.lastUseOf(tokenId)())
  }
