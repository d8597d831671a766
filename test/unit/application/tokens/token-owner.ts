import * as O from 'fp-ts/lib/Option.js'
import type { AuthenticateKey } from '../../../../application/tokens/queries/authenticate-key.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, startTokenWorld } from '../../../support/worlds/token-world.ts'
import { dataOf } from '../../../support/events/stored-data.ts'

/** Returns whether the secret is accepted. */
export const accepts = async (authenticateKey: AuthenticateKey, secret: string): Promise<boolean> =>
  O.isSome(right(await authenticateKey(secret)))

export const everything = { skip: 0, limit: 100 }
export const ci = { name: 'ci', expiresAt: null }

/** Starts a world in which Ada has an API token. */
export const startWithToken = async (
  t: Parameters<typeof startTokenWorld>[0],
  stores: Parameters<typeof startTokenWorld>[1] = {},
) => {
  const world = await startTokenWorld(t, stores)
  const userId = await world.register('Ada')
  const caller = callerOf(userId)
  const { token, secret } = right(await world.tokens.issueToken(caller, ci))
  const usesInLog = async () =>
    right(await world.store.read(`token-use-${token.id}`)).map((event) => dataOf(event)['at'])
  return { ...world, userId, caller, token, secret, usesInLog }
}
