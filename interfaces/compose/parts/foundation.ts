import { watchLog } from '../../../application/log/watched-log.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { VERSION } from '../../../infrastructure/stores/format.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { stagedOf } from '../../../projections/rebuild/unfinished-rebuild.ts'
import { discardNewerThanLog, dutyCheckpoint } from '../../../projections/rebuild/discard-newer-than-log.ts'
import { assemble } from '../assemble.ts'
import { DUTIES } from '../duties.ts'
import { isolationHere } from '../sources.ts'
import { openStores } from '../stores.ts'
import { succeed } from '../succeed.ts'

export type Foundation = Awaited<ReturnType<typeof layFoundation>>

/**
 * The stores that the settings name, and what every other part is given: clock and chance, secrets, the log. `onReplaced`
 * is told why this process must end, when another one has taken its place.
 */
export const layFoundation = (settings: Settings, onReplaced: (why: string) => void) =>
  assemble(async (opened) => {
    const logger = createLogger(settings.logLevel)
    const environment = createEnvironment()
    // Takes a process of its own: it is looked at meanwhile.
    const isolating = isolationHere(settings, logger)
    opened({ stop: async () => void (await isolating) })
    const stores = opened(await openStores(settings, { logger, environment }))
    const { documents, keyring, leases } = stores
    const { self, replaced } = stores.members
    void replaced.then(onReplaced)
    const log = watchLog(stores.store, logger)
    const { store } = log
    // Before anything is appended: a position past the end of the log must not come to mean something else. Beside
    // processes that run them nothing is discarded: what is half built, and duties, whoever has their leases looks at.
    const isServer = settings.eventstoreUrl !== null
    const asked = isServer
      ? { projections: allProjections, duties: [] }
      : { projections: [...allProjections, ...allProjections.map(stagedOf)], duties: DUTIES }
    const compared = discardNewerThanLog({ store, documents, ...asked, keepsReadModels: isServer, logger })
    await succeed('compare the read models with the log', compared)
    const dutyDocuments = { ...documents, checkpoint: dutyCheckpoint({ store, documents, logger }) }
    const credentials = createCredentials({ masterKey: stores.masterKey, jwtTtlSeconds: settings.jwtTtl / 1000, environment })
    return {
      settings, logger, environment, timers, self, stores, leases, log, store, documents, dutyDocuments, keyring, credentials,
      version: VERSION, isolating,
    }
  })
