import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { createOutage } from '../../application/outages.ts'
import { pause } from '../../application/waiting.ts'
import type { KeyedMemory } from '../../application/ports/keyring.ts'

const QUERY_INTERVAL_MS = 1000
/** After this time without an answer, keys in memory are dropped because another process may have erased them. */
const MAX_SILENCE_MS = 30_000

interface ErasedKeysDeps {
  /** The keyring, and whatever else keeps data in clear text. */
  readonly memories: ReadonlyArray<KeyedMemory>
  /** Returns recently erased keys, including all keys erased after its previous answer. */
  readonly erased: () => Promise<Either<string, ReadonlyArray<string>>>
  /** Returns the keys that stay in memory even without an answer: the keys of the sessions in this process. */
  readonly needed: () => ReadonlyArray<string>
  readonly timers: Timers
  /** Returns the milliseconds of a monotonic clock. */
  readonly monotonic: () => number
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/** Removes keys that other processes erase, and their data, from the memory of this process, until it is stopped. */
export const followErasures = (
  { memories, erased, needed, timers, monotonic, logger }: ErasedKeysDeps,
): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  let answeredAt = monotonic()
  const outage = createOutage(
    { logger, environment: { monotonic } },
    'erased keys cannot be read: only keys of running sessions stay in memory',
    'erased keys are read again',
  )
  const follow = async (): Promise<void> => {
    for (;;) {
      await pause(timers, QUERY_INTERVAL_MS, stopping.signal)
      if (stopping.signal.aborted) return
      const queriedAt = monotonic()
      const names = await erased()
      if (E.isRight(names)) {
        answeredAt = queriedAt
        outage.ended()
        if (names.right.length > 0) for (const memory of memories) memory.forget(names.right)
      } else if (monotonic() - answeredAt >= MAX_SILENCE_MS) {
        outage.failed(names.left)
        const kept = needed()
        for (const memory of memories) memory.keepOnly(kept)
      }
    }
  }
  const following = follow()
  return {
    stop: async () => {
      stopping.abort()
      await following
    },
  }
}
