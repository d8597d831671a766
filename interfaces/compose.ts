import type { Logger } from '../application/ports/environment.ts'
import type { Settings } from '../infrastructure/settings.ts'
import { assemble } from './compose/assemble.ts'
import { runStartStep } from './compose/start-step.ts'
import type { Part } from './compose/assemble.ts'
import { openAccounts } from './compose/parts/accounts.ts'
import { startEngines } from './compose/parts/engines.ts'
import { openFoundation } from './compose/parts/foundation.ts'
import { startReadSide } from './compose/parts/read-side.ts'
import { startJobs } from './compose/parts/jobs.ts'
import { runSessions } from './compose/parts/running-sessions.ts'
import { openOperationsFront } from './compose/parts/operations-front.ts'
import { openServiceFront } from './compose/parts/service-front.ts'
import { openWriteSide } from './compose/parts/write-side.ts'
import { setupLink } from './http/clients/links.ts'

/** `stop` refuses new sessions, waits up to DRAIN_TIMEOUT for the open sessions, and then closes the stores. */
export interface RunningService extends Part {
  /** Address of the bound port: `http://host:port`. */
  readonly url: string
  /** The one-time set-up link. Null when an administrator exists. */
  readonly setupLink: string | null
  readonly logger: Logger
  /** Returns the number of sessions that this process transcribes. */
  readonly sessions: () => number
}

/**
 * Starts the service part by part. If a part fails, closes the earlier parts and throws an Error for the user.
 * `onReplaced` is called, even during the start, when another process has replaced this process. This process must
 * then exit.
 */
export const startService = (settings: Settings, onReplaced: (reason: string) => void): Promise<RunningService> =>
  assemble(async (opened) => {
    const foundation = opened(await openFoundation(settings, onReplaced))
    const engines = opened(await startEngines(foundation))
    const writeSide = opened(await openWriteSide(foundation, engines))
    const readSide = opened(await startReadSide(foundation))
    const running = opened(await runSessions({ foundation, engines, writeSide, readSide }))
    const parts = { foundation, engines, writeSide, readSide, running }
    const { logger } = foundation
    const sessions = (): number => running.ownLives().length
    if (!settings.role.includes('api')) {
      await running.resume()
      const { url } = opened(await openOperationsFront(parts))
      void readSide.projector.finishRebuilds()
      return { url, setupLink: null, logger, sessions }
    }
    const accounts = opened(await openAccounts(parts))
    const jobs = opened(await startJobs(parts))
    // Sessions of an earlier process resume before their senders can connect.
    await running.resume()
    const { url } = opened(await openServiceFront({ ...parts, accounts, jobs }))
    void readSide.projector.finishRebuilds()
    const token = await runStartStep('look for an administrator', accounts.setup.token)
    return { url, setupLink: token === null ? null : setupLink(settings, url, token), logger, sessions }
  })
