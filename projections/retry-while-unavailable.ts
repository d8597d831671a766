import type { Environment } from '../application/ports/environment.ts'
import { pause, retryDelay } from '../application/waiting.ts'
import type { Timers } from '../application/ports/timers.ts'

const RETRY = { first: 50, longest: 5000 }

const UNAVAILABLE: ReadonlySet<unknown> = new Set(['StoreUnavailable', 'DocumentsUnavailable'])

/** Returns why a store is unavailable, or null for any other error, which a retry would not solve. */
const unavailableReason = (error: unknown): string | null => {
  if (!(error instanceof Error) || typeof error.cause !== 'object' || error.cause === null) return null
  const { cause } = error
  return '_tag' in cause && UNAVAILABLE.has(cause._tag) && 'reason' in cause ? String(cause.reason) : null
}

interface RetryDeps {
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly signal: AbortSignal
  /** Called with the reason before each wait. */
  readonly onWait: (reason: string) => void
}

/**
 * Repeats a step while a store is unavailable. The waits grow, and are short again after `progress` has returned a new
 * value. Rejects with any other error, and when the signal aborts.
 */
export const retryWhileUnavailable =
  ({ environment, timers, signal, onWait }: RetryDeps) =>
  async <A>(step: () => Promise<A>, progress: () => unknown = () => null): Promise<A> => {
    let before = progress()
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await step()
      } catch (error) {
        const reason = unavailableReason(error)
        if (reason === null || signal.aborted) throw error
        if (progress() !== before) [before, attempt] = [progress(), 0]
        onWait(reason)
        await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
      }
    }
  }
