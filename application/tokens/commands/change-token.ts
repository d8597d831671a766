import * as O from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import { type ApiTokenNotFound, apiTokenNotFound, type Unavailable } from '../../refusals.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ApiTokenView } from '../../ports/read-models.ts'
import type { TokenDirectory } from '../policies/token-directory.ts'
import type { TokenUses } from '../policies/token-uses.ts'
import { ownerOf, tokenViewOf, type TokenWrites } from '../token-writes.ts'

export interface ApiTokenChange {
  readonly name?: string
  readonly isActive?: boolean
}

export type ChangeToken = (
  caller: Caller,
  tokenId: number,
  change: ApiTokenChange,
) => Promise<Either<ApiTokenNotFound | Unavailable, ApiTokenView>>

export interface ChangeTokenDeps extends Pick<TokenWrites, 'send'> {
  readonly environment: Pick<Environment, 'newId'>
  readonly tokens: Pick<TokenDirectory, 'byId'>
  readonly uses: Pick<TokenUses, 'lastUseOf'>
}

export const changeToken =
  ({ environment, tokens, uses, send }: ChangeTokenDeps): ChangeToken =>
  async (caller, tokenId, change) => {
    const owner = await ownerOf(tokens, caller, tokenId)
    if (E.isLeft(owner)) return owner
    if (O.isNone(owner.right)) return E.left(apiTokenNotFound)
    const command = { type: 'Change', userId: owner.right.value, ...change } as const
    const changed = await send(caller, tokenId, command, environment.newId())
    if (E.isLeft(changed)) return E.left(mapRefusal(changed.left, { TokenUnknown: apiTokenNotFound }))
    const token = changed.right
    if (token.status !== 'issued') return E.left(apiTokenNotFound)
    return pipe(await uses.lastUseOf(tokenId), E.map((lastUsedAt) => tokenViewOf(token, lastUsedAt)))
  }
