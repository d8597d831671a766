import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { sync } from '../../../infrastructure/files/sync.ts'
import { createEnvironment } from '../../../infrastructure/process/clock-and-ids.ts'
import { createLogger } from '../../../infrastructure/observability/logger.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { UNFINISHED_TAKE_OVER, openStores } from '../stores.ts'
import { pendingDeletions, writeDeletions } from './deletions.ts'
import { discardNewer } from './discard-newer.ts'
import { recordIn, type RestoreOptions, type RestoreReport } from './record.ts'
import { presentNames, type Progress } from './replaced-data.ts'

/**
 * Records that the present log may be an older copy, and makes the settings' stores its owner. The service does not
 * start between the two. The log that was replaced counts as gone.
 */
export const recordPresent = async (
  settings: Settings, options: RestoreOptions, status: Progress,
): Promise<RestoreReport> => {
  const { dataDir } = settings
  const unfinished = join(dataDir, UNFINISHED_TAKE_OVER)
  const keys = await presentNames(settings)
  const [logger, environment] = [createLogger('warn'), createEnvironment()]
  const { stop, store, documents, keyring } = await openStores(settings, { logger, environment, takesOver: true })
  try {
    await writeFile(unfinished, '', { mode: 0o600 })
    await sync(dataDir)
    // Before the events of the restore make the log longer.
    await discardNewer({ store, documents })
    const pending = await pendingDeletions(dataDir)
    const report = await recordIn({ store, replaced: { log: null, ...keys }, pending, backupAt: null, options, status })
    const isErased = new Set(keys.erasedKeys)
    const present = new Set(keys.keyNames.filter((name) => !isErased.has(name)))
    orThrow(await keyring.erase(report.erasedKeys.filter((name) => present.has(name))))
    await writeDeletions(dataDir, report.toDelete)
    await rm(unfinished)
    return report
  } finally {
    await stop()
  }
}
