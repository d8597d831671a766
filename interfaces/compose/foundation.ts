import * as E from 'fp-ts/lib/Either.js'
import { createDailyBudget, type DailyBudget } from '../../application/budget.ts'
import { lastRestore } from '../../application/log/last-restore.ts'
import { createKnownStates, type KnownStates } from '../../application/log/states/known-states.ts'
import { createStreamSnapshots, type StreamSnapshots } from '../../application/log/states/stream-snapshots.ts'
import { type WatchedLog, watchLog } from '../../application/log/watched-log.ts'
import { createDiscardCounter, type DiscardCounter } from '../../application/pipeline/discarded-words.ts'
import { createLags, type Lags } from '../../application/pipeline/lags.ts'
import type { Credentials } from '../../application/ports/credentials.ts'
import type { Documents } from '../../application/ports/documents.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import type { Leases } from '../../application/ports/leases.ts'
import type { Members } from '../../application/ports/members.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { createCredentials } from '../../infrastructure/keys/credentials.ts'
import { createEnvironment } from '../../infrastructure/process/clock-and-ids.ts'
import { createLogger } from '../../infrastructure/observability/logger.ts'
import { systemTimers as timers } from '../../infrastructure/process/system-timers.ts'
import type { Settings } from '../../infrastructure/settings/settings.ts'
import { examineIsolation, type SourceIsolation } from '../../infrastructure/sources/source-isolation.ts'
import { VERSION } from '../../infrastructure/store-rules/format.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { dutyCheckpoint, refuseOlderLog } from '../../projections/rebuild/discard-newer-than-log.ts'
import { assemble, type Part } from './assemble.ts'
import { ALL_CHECKPOINTS } from './restoring/discard-newer.ts'
import { UNKNOWN_LOST_IDS } from './restoring/lost-ids.ts'
import { recordPresent } from './restoring/record-present.ts'
import { linesOf } from './restoring/record.ts'
import { runStartStep } from './start-step.ts'
import { openStores, type Stores } from './stores.ts'

const SILENT = { show: () => undefined }

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
  const compared = await refuseOlderLog({ store, documents, ...ALL_CHECKPOINTS })
  if (E.isRight(compared) || compared.left._tag !== 'OlderLog') return stores
  const { reason } = compared.left
  logger.error({ reason }, 'the log has lost its end, or is an older copy: it is treated as restored')
  await stores.stop()
  const report = await recordPresent(settings, { lostIds: UNKNOWN_LOST_IDS, skipUnreadable: true }, SILENT)
  for (const line of linesOf(report)) logger.warn({}, line)
  return await openStores(settings, { logger, environment })
}

/** What all other parts need: the stores, the clock, random numbers, secrets, and what this process measures. */
export interface Foundation {
  readonly settings: Settings
  readonly version: string
  readonly logger: Logger
  readonly environment: Environment
  readonly timers: Timers
  readonly stores: Stores
  /** The entry of this process in `stores.members`. */
  readonly self: Members['self']
  readonly leases: Leases
  readonly log: WatchedLog
  /** The event store, with subscriptions that continue after damaged rows. */
  readonly store: EventStore
  readonly documents: Documents
  /** The documents, with checkpoints of duties that are compared with the log. */
  readonly dutyDocuments: Documents
  readonly keyring: Keyring
  readonly credentials: Credentials
  /** Whether decoders of URL sources can be isolated. The examination may still run. */
  readonly isolating: Promise<SourceIsolation>
  readonly states: { readonly known: KnownStates; readonly snapshots: StreamSnapshots }
  readonly budget: DailyBudget
  readonly lags: Lags
  readonly discardCounter: DiscardCounter
}

/** Examines whether decoders of URL sources can be isolated on this machine. Logs a warning if not. */
const examineLocalIsolation = async (settings: Settings, logger: Logger): Promise<SourceIsolation> => {
  const isolation = await examineIsolation(settings.sourceIsolation)
  const { problem } = isolation
  if (problem !== null) logger.warn({ problem }, 'decoders of URL sources are not isolated')
  return isolation
}

/** Opens the stores. `onReplaced` is called with the reason when another process has replaced this one. */
export const openFoundation = (
  settings: Settings, onReplaced: (reason: string) => void,
): Promise<Foundation & Part> =>
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
      lags: createLags(), discardCounter: createDiscardCounter(),
    }
  })
