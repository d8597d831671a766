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
  // With MongoDB, all processes that share it own the log. Its URL may contain a password, so it is not printed.
  const owner = settings.mongoUrl === null
    ? `the data directory ${settings.dataDir}`
    : 'the processes that use the MongoDB of STENOLOG_MONGO_URL'
  console.log(`The log in EventStoreDB belongs to ${owner}.`)
  return 0
}
