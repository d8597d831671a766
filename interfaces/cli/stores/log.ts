import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { createLogger } from '../../../infrastructure/node/logger.ts'
import { openStores } from '../../compose/stores.ts'
import { toolSettings } from '../tool-settings.ts'

export const LOG_HELP = `stenolog log take-over

Gives the log in EventStoreDB to this data directory. A log belongs to the data directory, or to the MongoDB, whose service
has started on it last; a service of another one is refused, for it cannot know whether the first still runs.
Use it where the first is gone for good: its disk is lost, or its data moved here. Stop that service first: one that still
runs notices within seconds and ends, and what both have written by then may contradict each other.
Keys are not taken over: STENOLOG_MASTER_KEY_FILE and the keyring must be those of the log.`

/** Takes the log over; resolves to the exit code. */
export const log = async (args: ReadonlyArray<string>): Promise<number> => {
  if (args.length !== 1 || args[0] !== 'take-over') throw new Error('log knows one thing: stenolog log take-over')
  const settings = toolSettings()
  if (settings.eventstoreUrl === null)
    throw new Error(`the log lies in the data directory ${settings.dataDir}: it belongs to whoever has that`)
  const { stop } = await openStores(settings, { logger: createLogger('warn'), environment: createEnvironment(), takesOver: true })
  await stop()
  console.log(`The log of the event store belongs to the data directory ${settings.dataDir} now`)
  return 0
}
