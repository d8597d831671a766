import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { refuseOlderLog } from '../../../projections/rebuild/discard-newer-than-log.ts'
import { openStores } from '../stores.ts'
import { ALL_CHECKPOINTS } from './discard-newer.ts'
import { UNKNOWN_LOST_IDS } from './lost-ids.ts'
import { recordPresent } from './record-present.ts'
import { linesOf } from './record.ts'

const SILENT = { show: () => undefined }

/**
 * Opens the stores. If the embedded log lost its end, after a torn write or because somebody put an older copy back,
 * it first records a restore in the log, as `stenolog restore --in-place` does. Otherwise ids would be given out again,
 * and lost logins and API tokens would be valid. With a log on a server, the caller refuses to start.
 */
export const openRepairedStores = async (
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
