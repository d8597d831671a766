import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { flow } from 'fp-ts/lib/function.js'
import { apiTokenStream } from '../../domain/api-token/events.ts'
import type { WatchedLog } from '../log/watched-log.ts'
import type { KnownToken, TokenDirectory } from './policies/token-directory.ts'

/** Excludes tokens with damaged events, because a damaged event may have deactivated the token. */
export const trustedTokens = (
  { byPrefix }: Pick<TokenDirectory, 'byPrefix'>,
  { isDamaged }: Pick<WatchedLog, 'isDamaged'>,
): Pick<TokenDirectory, 'byPrefix'> => ({
  byPrefix: flow(byPrefix, TE.map(O.filter(({ tokenId }: KnownToken) => !isDamaged(apiTokenStream(tokenId))))),
})
