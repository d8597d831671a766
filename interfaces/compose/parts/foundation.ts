import * as E from 'fp-ts/lib/Either.js'
import { lastRestore } from '../../../application/log/last-restore.ts'
import { watchLog } from '../../../application/log/watched-log.ts'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { VERSION } from '../../../infrastructure/stores/format.ts'
import { systemTimers as timers } from '../../../infrastructure/node/system-timers.ts'
import { createCredentials } from '../../../infrastructure/keys/credentials.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { stagedOf } from '../../../projections/rebuild/unfinished-rebuild.ts'
import { dutyCheckpoint, refuseOlderLog } from '../../../projections/rebuild/discard-newer-than-log.ts'
import { recordPresent } from '../restoring/record-present.ts'
import { linesOf } from '../restoring/record.ts'
import { assemble } from '../assemble.ts'
import { DUTIES } from '../duties.ts'
import { examineLocalIsolation } from '../sources.ts'
import { openStores } from '../stores.ts'
import { runStartStep } from '../start-step.ts'

/** All read models, also unfinished rebuilds, and all duties. */
const EVERYTHING = { projections: [...allProjections, ...allProjections.map(stagedOf)], duties: DUTIES }

/** Ids of each kind that are skipped, because nobody knows how many were given out in the lost events. */
const LOST_IDS = 1_000_000

const SILENT = { show: () => undefined, clear: () => undefined }

/**
 * Opens the stores. If the embedded log lost its end, after a torn write or because somebody put an older copy back,
 * it first records a restore in the log, as `stenolog restore --in-place` does. Otherwise ids would be given out again,
 * and lost logins and API tokens would be valid. With a log on a server, the caller refuses to start.
 */
const openRepairedStores = async (
  settings: Settings,
  { logger, environment }: { readonly logger: Logger; readonly environment: Environment },
): ReturnType<typeof openStores> => {
  const stores = await openStores(settings, { logger, environment })
  if (settings.eventstoreUrl !== null) return stores
  const { store, documents } = stores
  const compared = await refuseOlderLog({ store, documents, ...EVERYTHING })()
  if (E.isRight(compared) || compared.left._tag !== 'OlderLog') return stores
  const { reason } = compared.left
  logger.error({ reason }, 'the log has lost its end, or is an older copy: it is treated as restored')
  await stores.stop()
  const report = await recordPresent(settings, { lostIds: LOST_IDS, skipUnreadable: true }, SILENT)
  for (const line of linesOf(report)) logger.warn({}, line)
  return await openStores(settings, { logger, environment })
}

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
    const scope = isServer ? { projections: allProjections, duties: [] } : EVERYTHING
    await runStartStep('compare the read models with the log', refuseOlderLog({ store, documents, ...scope }))
    const dutyDocuments = { ...documents, checkpoint: dutyCheckpoint({ store, documents, logger }) }
    const jwtTtlSeconds = settings.jwtTtl / 1000
    const restored = await runStartStep('read when the log was restored', lastRestore({ store }))
    const epoch = restored?.epoch ?? null
    const credentials = createCredentials({ masterKey: stores.masterKey, jwtTtlSeconds, epoch, environment })
    return {
      settings, logger, environment, timers, self, stores, leases, log, store, documents, dutyDocuments, keyring,
      credentials, version: VERSION, isolating,
    }
  })
