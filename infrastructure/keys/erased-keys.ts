import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import type { SharedKeyring } from './keyring.ts'

/** How often it is asked what was erased. */
const EVERY_MS = 1000
/** Without an answer for so long, a key in memory may be one that was erased. */
const LONGEST_MS = 30_000

interface ErasedKeysDeps {
  readonly keyring: Pick<SharedKeyring, 'forget' | 'keepOnly'>
  /** Names of the keys that were erased lately, those since its last answer among them. */
  readonly erased: () => Promise<Either<string, ReadonlyArray<string>>>
  /** Keys that are needed where nothing is answered: those of the lives that run here. */
  readonly needed: () => ReadonlyArray<string>
  readonly timers: Timers
  /** Milliseconds that only ever grow. */
  readonly monotonic: () => number
  readonly logger: Pick<Logger, 'warn'>
}

/** Has the keyring of this process forget the keys that others erase, until it is stopped. */
export const followErasures = ({ keyring, erased, needed, timers, monotonic, logger }: ErasedKeysDeps): { readonly stop: () => Promise<void> } => {
  const stopping = new AbortController()
  let answered = monotonic()
  let isBlind = false
  const follow = async (): Promise<void> => {
    for (;;) {
      await pause(timers, EVERY_MS, stopping.signal)
      if (stopping.signal.aborted) return
      const asked = monotonic()
      const names = await erased()
      if (E.isRight(names)) {
        answered = asked
        isBlind = false
        if (names.right.length > 0) keyring.forget(names.right)
      } else if (monotonic() - answered >= LONGEST_MS) {
        if (!isBlind) logger.warn({ error: names.left }, 'nobody tells which keys were erased: those in memory are dropped, but for what runs here')
        isBlind = true
        keyring.keepOnly(needed())
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
