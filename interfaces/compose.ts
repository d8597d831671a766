import type { Logger } from '../application/ports/environment.ts'
import type { Settings } from '../infrastructure/settings.ts'
import { assemble } from './compose/assemble.ts'
import { succeed } from './compose/succeed.ts'
import type { Part } from './compose/assemble.ts'
import { openAccounts } from './compose/parts/accounts.ts'
import { startEngines } from './compose/parts/engines.ts'
import { layFoundation } from './compose/parts/foundation.ts'
import { startReadSide } from './compose/parts/read-side.ts'
import { startJobs } from './compose/parts/jobs.ts'
import { runSessions } from './compose/parts/running-sessions.ts'
import { openOperationsFront } from './compose/parts/operations-front.ts'
import { openServiceFront } from './compose/parts/service-front.ts'
import { openWriteSide } from './compose/parts/write-side.ts'
import { setupLink } from './http/clients/links.ts'

/** Stopping it drains: no new lives and sockets, open lives get DRAIN_TIMEOUT, then the stores close. */
export interface RunningService extends Part {
  /** `http://host:port` as bound. */
  readonly url: string
  /** The one-time set-up link, null once there is an administrator. */
  readonly setupLink: string | null
  readonly logger: Logger
}

/**
 * Starts the service, part by part; throws an Error for people when it cannot, and then leaves nothing open. `onReplaced`
 * is told, also before that is done, why this process must end at once: another one has taken its place.
 */
export const startService = (settings: Settings, onReplaced: (why: string) => void): Promise<RunningService> =>
  assemble(async (opened) => {
    const foundation = opened(await layFoundation(settings, onReplaced))
    const engines = opened(await startEngines(foundation))
    const writeSide = opened(await openWriteSide(foundation, engines))
    const readSide = opened(await startReadSide(foundation))
    const running = opened(await runSessions({ foundation, engines, writeSide, readSide }))
    const parts = { foundation, engines, writeSide, readSide, running }
    const { logger } = foundation
    if (!settings.role.includes('api')) {
      await running.resume()
      const { url } = opened(await openOperationsFront(parts))
      void readSide.projector.finishRebuilds()
      return { url, setupLink: null, logger }
    }
    const accounts = opened(await openAccounts(parts))
    const jobs = opened(await startJobs(parts))
    // Before a sender can come to their lives.
    await running.resume()
    const { url } = opened(await openServiceFront({ ...parts, accounts, jobs }))
    void readSide.projector.finishRebuilds()
    const token = await succeed('look for an administrator', accounts.setup.token)
    return { url, setupLink: token === null ? null : setupLink(settings, url, token), logger }
  })
