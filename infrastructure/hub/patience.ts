import { retryDelay } from '../../application/waiting.ts'
import { HubError } from './hub-error.ts'

/** Waiting, injected so that tests do not wait. */
export type Wait = (milliseconds: number) => Promise<void>

const ATTEMPTS = 6
const BACK_OFF = { first: 1000, longest: 30_000 }

/**
 * Asks again, with back-off or as long as the hub says, while what it refuses may pass: six times in a row. `madeProgress` tells
 * whether the last attempt brought something, and begins the count anew.
 */
export const patiently = async <A>(wait: Wait, attempt: () => Promise<A>, madeProgress: () => boolean = () => false): Promise<A> => {
  for (let failures = 0; ; ) {
    try {
      return await attempt()
    } catch (error) {
      failures = madeProgress() ? 1 : failures + 1
      if (!(error instanceof HubError) || !error.passing || failures >= ATTEMPTS) throw error
      await wait(error.waitMs ?? retryDelay(BACK_OFF, failures - 1, Math.random()))
    }
  }
}
