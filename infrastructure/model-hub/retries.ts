import { retryDelay } from '../../application/waiting.ts'
import { HubError } from './hub-error.ts'

/** Waits for this time. Callers pass this function as a parameter, so tests need not wait. */
export type Wait = (milliseconds: number) => Promise<void>

const MAX_ATTEMPTS = 6
/** Pauses between attempts in milliseconds. */
const BACK_OFF = { first: 1000, longest: 30_000 }

/**
 * Retries after temporary errors, with back-off or after the time in the hub's answer. Fails after six attempts in a
 * row without progress. `madeProgress`: whether the last attempt received data.
 */
export const withRetries = async <A>(
  wait: Wait,
  attempt: () => Promise<A>,
  madeProgress: () => boolean = () => false,
): Promise<A> => {
  for (let failures = 0; ; ) {
    try {
      return await attempt()
    } catch (error) {
      failures = madeProgress() ? 1 : failures + 1
      if (!(error instanceof HubError) || !error.isTemporary || failures >= MAX_ATTEMPTS) throw error
      await wait(error.waitMs ?? retryDelay(BACK_OFF, failures - 1, Math.random()))
    }
  }
}
