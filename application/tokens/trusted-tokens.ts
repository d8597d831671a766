import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { pipe } from 'fp-ts/lib/function.js'
import { apiTokenStream } from '../../domain/api-token/events.ts'
import type { WatchedLog } from '../log/watched-log.ts'
import type { TokenDirectory } from './policies/token-directory.ts'

/** Excludes tokens with damaged events, because a damaged event may have deactivated the token. */
export const trustedTokens = (
  { byPrefix }: Pick<TokenDirectory, 'byPrefix'>,
  { isDamaged }: Pick<WatchedLog, 'isDamaged'>,
): Pick<TokenDirectory, 'byPrefix'> => ({
  byPrefix: async (prefix) =>
    pipe(await byPrefix(prefix), E.map(O.filter(({ tokenId }) => !isDamaged(apiTokenStream(tokenId))))),
})
