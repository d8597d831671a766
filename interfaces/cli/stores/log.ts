import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { openStores } from '../../compose/stores.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { LOG } from '../commands/stores.ts'
import { toolSettings } from '../tool-settings.ts'

/** Runs `stenolog log take-over`. Resolves to the exit code. */
export const log = async (args: ReadonlyArray<string>): Promise<number> => {
  readArguments(LOG, args)
  const settings = toolSettings()
  if (settings.eventstoreUrl === null)
    throw new Error(
      `the log is embedded in the data directory ${settings.dataDir}; only a log in EventStoreDB can be taken over`,
    )
  const [logger, environment] = [createLogger('warn'), createEnvironment()]
  const { stop } = await openStores(settings, { logger, environment, takesOver: true })
  await stop()
  console.log(`The log in EventStoreDB belongs to the data directory ${settings.dataDir}.`)
  return 0
}
