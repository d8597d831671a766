import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { ApiToken } from '../../../domain/api-token/decider.ts'
import { type ApiTokenUsed, tokenUseStream } from '../../../domain/api-token/events.ts'
import { tokenUseDecider, untilNextUse } from '../../../domain/api-token/rules.ts'
import type { Unavailable } from '../../refusals.ts'
import { handleCommand, type WriteDeps } from '../../log/handle-command.ts'
import { loadState } from '../../log/states/load-state.ts'
import { originOf } from '../../log/origin.ts'
import type { Logger } from '../../ports/environment.ts'
import { createLruCache } from '../../lru-cache.ts'

export interface TokenUseDeps extends WriteDeps {
  readonly logger: Logger
}

type UsedToken = Pick<ApiToken, 'tokenId' | 'userId'>

export interface TokenUses {
  /** Records a use in the background, at most once a minute. After a failure the next use tries again. */
  readonly record: (token: UsedToken) => void
  /** Returns the time of the last recorded use, or null when no use was recorded. */
  readonly lastUseOf: (tokenId: number) => Promise<Either<Unavailable, string | null>>
  /** Resolves when no write is running. */
  readonly settled: () => Promise<void>
}

/**
 * The store keeps only the newest use of a token. This limit is set again every 100 events, in case a crash skipped it.
 */
const TRUNCATION_INTERVAL = 100
/** Number of tokens whose next recorded use is kept in memory, so most uses need no read of the log. */
const MAX_REMEMBERED = 20_000

const NOT_RECORDED = 'the use of an API token could not be recorded'

export const createTokenUses = (deps: TokenUseDeps): TokenUses => {
  const { store, environment, logger } = deps
  const handle = handleCommand(deps)
  const running = new Map<number, Promise<void>>()
  /** When another use may be recorded, in milliseconds of the monotonic clock. */
  const nextUses = createLruCache<number, number>(MAX_REMEMBERED)

  const write = async ({ tokenId, userId }: UsedToken, at: string): Promise<void> => {
    const stream = tokenUseStream(tokenId)
    const origin = originOf(deps, `user:${userId}`)
    const used = await handle({ ...origin, stream, decider: tokenUseDecider, command: { tokenId, userId, at } })
    if (E.isLeft(used)) return logger.warn({ tokenId, refusal: used.left._tag }, NOT_RECORDED)
    nextUses.set(tokenId, environment.monotonic() + untilNextUse(used.right.state, at))
    const [event] = used.right.stored
    if (event !== undefined && event.revision % TRUNCATION_INTERVAL === 0)
      await store.setMetadata(stream, { maxCount: 1 })
  }

  return {
    record: (token) => {
      const { tokenId } = token
      if (running.has(tokenId) || environment.monotonic() < (nextUses.get(tokenId) ?? 0)) return
      const writing = write(token, environment.now())
        .catch((error: unknown) => logger.error({ tokenId, err: error }, NOT_RECORDED))
        .finally(() => running.delete(tokenId))
      running.set(tokenId, writing)
    },
    lastUseOf: async (tokenId) =>
      pipe(
        await loadState(deps)<string | null, ApiTokenUsed>(tokenUseStream(tokenId), tokenUseDecider),
        E.map(({ state }) => state),
      ),
    settled: async () => {
      await Promise.all(running.values())
    },
  }
}
