import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { sync } from '../../../infrastructure/files/sync.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { UNFINISHED_TAKE_OVER, openStores } from '../../compose/stores.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { LOG } from '../commands/stores.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'
import { pendingDeletions, writeDeletions } from './restoring/deletions.ts'
import { linesOf, recordIn } from './restoring/record.ts'
import type { RestoreOptions, RestoreReport } from './restoring/record.ts'
import { presentNames } from './restoring/replaced-data.ts'

/**
 * Makes the settings' stores the owner of the log, and records that the log may be an older copy. The service does not
 * start between the two.
 */
const takeOver = async (settings: Settings, options: RestoreOptions, status: StatusLine): Promise<RestoreReport> => {
  const { dataDir } = settings
  const unfinished = join(dataDir, UNFINISHED_TAKE_OVER)
  const keys = await presentNames(settings)
  const [logger, environment] = [createLogger('warn'), createEnvironment()]
  const { stop, store, keyring } = await openStores(settings, { logger, environment, takesOver: true })
  try {
    await writeFile(unfinished, '', { mode: 0o600 })
    await sync(dataDir)
    const pending = await pendingDeletions(dataDir)
    const report = await recordIn({ store, replaced: { log: null, ...keys }, pending, backupAt: null, options, status })
    const isErased = new Set(keys.erasedKeys)
    const present = new Set(keys.keyNames.filter((name) => !isErased.has(name)))
    orThrow(await keyring.erase(report.erasedKeys.filter((name) => present.has(name)))())
    await writeDeletions(dataDir, report.toDelete)
    await rm(unfinished)
    return report
  } finally {
    await stop()
  }
}

/** Runs `stenolog log take-over`. Resolves to the exit code. */
export const log = async (args: ReadonlyArray<string>): Promise<number> => {
  const { options: values } = readArguments(LOG, args)
  const settings = toolSettings()
  if (settings.eventstoreUrl === null)
    throw new Error(
      `the log is embedded in the data directory ${settings.dataDir}; only a log in EventStoreDB can be taken over`,
    )
  const options = { lostIds: Number(values['lost-ids']), skipUnreadable: values['skip-unreadable'] }
  const report = await withStatus((status) => takeOver(settings, options, status))
  // With MongoDB, all processes that share it own the log. Its URL may contain a password, so it is not printed.
  const owner = settings.mongoUrl === null
    ? `the data directory ${settings.dataDir}`
    : 'the processes that use the MongoDB of STENOLOG_MONGO_URL'
  console.log(`The log in EventStoreDB belongs to ${owner}.`)
  for (const line of linesOf(report)) console.log(line)
  return 0
}
