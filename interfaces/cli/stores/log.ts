import { readArguments } from '../commands/read-arguments.ts'
import { LOG } from '../commands/stores.ts'
import { withStatus } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'
import { recordPresent } from '../../compose/restoring/record-present.ts'
import { linesOf } from '../../compose/restoring/record.ts'

/** Runs `stenolog log take-over`. Resolves to the exit code. */
export const log = async (args: ReadonlyArray<string>): Promise<number> => {
  const { options: values } = readArguments(LOG, args)
  const settings = toolSettings()
  if (settings.eventstoreUrl === null)
    throw new Error(
      `the log is embedded in the data directory ${settings.dataDir}; only a log in EventStoreDB can be taken over`,
    )
  const options = { lostIds: Number(values['lost-ids']), skipUnreadable: values['skip-unreadable'] }
  const report = await withStatus((status) => recordPresent(settings, options, status))
  // With MongoDB, all processes that share it own the log. Its URL may contain a password, so it is not printed.
  const owner = settings.mongoUrl === null
    ? `the data directory ${settings.dataDir}`
    : 'the processes that use the MongoDB of STENOLOG_MONGO_URL'
  console.log(`The log in EventStoreDB belongs to ${owner}.`)
  for (const line of linesOf(report)) console.log(line)
  return 0
}
