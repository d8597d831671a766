import { createDailyBudget } from '../../../application/budget.ts'
import { lastRestore } from '../../../application/log/last-restore.ts'
import { createKnownStates } from '../../../application/log/states/known-states.ts'
import { createStreamSnapshots } from '../../../application/log/states/stream-snapshots.ts'
import { watchLog } from '../../../application/log/watched-log.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { VERSION } from '../../../infrastructure/stores/format.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { dutyCheckpoint, refuseOlderLog } from '../../../projections/rebuild/discard-newer-than-log.ts'
import { ALL_CHECKPOINTS } from '../restoring/discard-newer.ts'
import { openRepairedStores } from '../restoring/repaired-stores.ts'
import { assemble } from '../assemble.ts'
import { examineLocalIsolation } from '../sources.ts'
import { runStartStep } from '../start-step.ts'

export type Foundation = Awaited<ReturnType<typeof openFoundation>>

/**
 * Opens the stores and everything that all other parts need: clock, random numbers, secrets, logger. `onReplaced` is
 * called with the reason when another process has replaced this one.
 */
export const openFoundation = (settings: Settings, onReplaced: (reason: string) => void) =>
  assemble(async (opened) => {
    const logger = createLogger(settings.logLevel)
    const environment = createEnvironment()
    // The examination takes a while, because it starts a process. The following steps run in the meantime.
    const isolating = examineLocalIsolation(settings, logger)
    opened({ stop: async () => void (await isolating) })
    const stores = opened(await openRepairedStores(settings, { logger, environment }))
    const { documents, keyring, leases } = stores
    const { self, replaced } = stores.members
    void replaced.then(onReplaced)
    const log = watchLog(stores.store, logger)
    const { store } = log
    // Stored positions after the end of the log would later point to other events. With servers, this does not include
    // unfinished rebuilds and duties: the processes that hold their leases compare those positions.
    const isServer = settings.eventstoreUrl !== null
    const scope = isServer ? { projections: allProjections, duties: [] } : ALL_CHECKPOINTS
    await runStartStep('compare the read models with the log', () => refuseOlderLog({ store, documents, ...scope }))
    const dutyDocuments = { ...documents, checkpoint: dutyCheckpoint({ store, documents, logger }) }
    const jwtTtlSeconds = settings.jwtTtl / 1000
    const restored = await runStartStep('read when the log was restored', () => lastRestore({ store }))
    const epoch = restored?.epoch ?? null
    const credentials = createCredentials({ masterKey: stores.masterKey, jwtTtlSeconds, epoch, environment })
    const snapshots = createStreamSnapshots({ store, keyring, environment, logger })
    opened({ stop: snapshots.idle })
    const states = { known: createKnownStates(), snapshots }
    return {
      settings, logger, environment, timers, self, stores, leases, log, store, documents, dutyDocuments, keyring,
      credentials, version: VERSION, isolating, states, budget: createDailyBudget(environment, settings.dailyBudget),
    }
  })
