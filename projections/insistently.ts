import type { Environment } from '../application/ports/environment.ts'
import { pause, retryDelay } from '../application/waiting.ts'
import type { Timers } from '../application/ports/timers.ts'

const RETRY = { first: 50, longest: 5000 }

const AWAY: ReadonlySet<unknown> = new Set(['StoreUnavailable', 'DocumentsUnavailable'])

/** Why a store did not answer; null for an error that would come again. */
const whyAway = (error: unknown): string | null => {
  if (!(error instanceof Error) || typeof error.cause !== 'object' || error.cause === null) return null
  const { cause } = error
  return '_tag' in cause && AWAY.has(cause._tag) && 'reason' in cause ? String(cause.reason) : null
}

interface InsistentlyDeps {
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly signal: AbortSignal
  /** Called before each wait with its reason. */
  readonly onHeld: (reason: string) => void
}

/**
 * Repeats a step while stores are away, with longer and longer waits, which begin anew once what `progress` answers has
 * changed. Rejects with any other error, and once the signal is given.
 */
export const insistently =
  ({ environment, timers, signal, onHeld }: InsistentlyDeps) =>
  async <A>(step: () => Promise<A>, progress: () => unknown = () => null): Promise<A> => {
    let before = progress()
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await step()
      } catch (error) {
        const reason = whyAway(error)
        if (reason === null || signal.aborted) throw error
        if (progress() !== before) [before, attempt] = [progress(), 0]
        onHeld(reason)
        await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
      }
    }
  }
