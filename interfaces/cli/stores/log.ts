import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { openStores } from '../../compose/stores.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { LOG } from '../commands/stores.ts'
import { toolSettings } from '../tool-settings.ts'

/** Takes the log over; resolves to the exit code. */
export const log = async (args: ReadonlyArray<string>): Promise<number> => {
  readArguments(LOG, args)
  const settings = toolSettings()
  if (settings.eventstoreUrl === null)
    throw new Error(`the log lies in the data directory ${settings.dataDir}: it belongs to whoever has that`)
  const { stop } = await openStores(settings, { logger: createLogger('warn'), environment: createEnvironment(), takesOver: true })
  await stop()
  console.log(`The log of the event store belongs to the data directory ${settings.dataDir} now`)
  return 0
}
