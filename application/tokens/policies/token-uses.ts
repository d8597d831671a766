import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { tokenUseStream } from '../../../domain/api-token/events.ts'
import type { ApiTokenUsed } from '../../../domain/api-token/events.ts'
import { isWorthRecording, tokenUseDecider } from '../../../domain/api-token/rules.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand, loadState } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import type { Logger } from '../../ports/environment.ts'
import { createRecent } from '../../recent.ts'
import type { KnownToken } from './token-directory.ts'

export interface TokenUseDeps extends WriteDeps {
  readonly logger: Logger
}

export interface TokenUses {
  /** Writes down that a token was used, at most once a minute; nobody waits for it, and one that fails is tried at the next use. */
  readonly record: (token: KnownToken) => void
  /** The last use on record, by anybody; null where there is none. */
  readonly lastUseOf: (tokenId: number) => TaskEither<Unavailable, string | null>
  /** Resolves when nothing is being written. */
  readonly settled: () => Promise<void>
}

/** Only the newest event of the stream is of use; this often the store is told so (once would do, a crash may skip it). */
const TRUNCATION_INTERVAL = 100
/** Tokens whose last use is remembered, so that the log is not asked at each one. */
const MOST = 20_000

export const createTokenUses = (deps: TokenUseDeps): TokenUses => {
  const { store, environment, logger } = deps
  const handle = handleCommand(deps)
  const running = new Map<number, Promise<void>>()
  const lastUses = createRecent<number, string>(MOST)

  const write = async ({ tokenId, userId }: KnownToken, at: string): Promise<void> => {
    const stream = tokenUseStream(tokenId)
    const origin = originOf(deps, `user:${userId}`)
    const used = await handle({ ...origin, stream, decider: tokenUseDecider, command: { tokenId, userId, at } })()
    if (E.isLeft(used)) return logger.warn({ tokenId, refusal: used.left._tag }, 'the use of an API token could not be recorded')
    lastUses.set(tokenId, used.right.state ?? at)
    const [event] = used.right.stored
    if (event !== undefined && event.revision % TRUNCATION_INTERVAL === 0) await store.setMetadata(stream, { maxCount: 1 })()
  }

  return {
    record: (token) => {
      const at = environment.now()
      if (running.has(token.tokenId) || !isWorthRecording(lastUses.get(token.tokenId) ?? null, at)) return
      const writing = write(token, at)
        .catch((error: unknown) => logger.error({ tokenId: token.tokenId, err: error }, 'the use of an API token could not be recorded'))
        .finally(() => running.delete(token.tokenId))
      running.set(token.tokenId, writing)
    },
    lastUseOf: (tokenId) =>
      pipe(
        loadState(deps)<string | null, ApiTokenUsed>(tokenUseStream(tokenId), tokenUseDecider),
        TE.map(({ state }) => state),
      ),
    settled: async () => {
      await Promise.all(running.values())
    },
  }
}
