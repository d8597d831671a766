import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { sqliteKeyRows } from '../../../infrastructure/sqlite/verify-files.ts'
import { verifyKeys } from '../../../infrastructure/keys/verify-keys.ts'
import { isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { EVENTS_FILE, KEYRING_FILE, masterKeyPath, takeDataDirectory } from '../../compose/stores.ts'
import {
  contentOf, databasesNotOn, type Manifest, MASTER_KEY_FILE, readManifest, requireEmbedded, serversOf,
} from './backup-manifest.ts'
import { checkRestored } from './restoring/check-restored.ts'
import { linesOf, type RestoreOptions } from '../../compose/restoring/record.ts'
import { recordPresent } from '../../compose/restoring/record-present.ts'
import { restoreFiles } from './restoring/restore-files.ts'
import { dataFiles } from '../data-files.ts'
import { CommandError, usageError } from '../../command-error.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { RESTORE } from '../commands/stores.ts'
import { type StatusLine, withStatus } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

/** Returns the path of the master key: from the settings, the backup or the data directory, in this order. */
const keyFor = (directory: string, settings: Settings, { files }: Manifest): string => {
  if (settings.masterKeyFile !== null) return settings.masterKeyFile
  return files[MASTER_KEY_FILE] === undefined ? masterKeyPath(settings) : join(directory, MASTER_KEY_FILE)
}

/** Throws an Error when the log of the backup is damaged or the master key does not open its keys. */
const requireUsable = async (
  directory: string,
  keyFile: string,
  { rows, files }: Manifest,
  status: StatusLine,
): Promise<void> => {
  if (files[EVENTS_FILE] !== undefined) {
    const onRows = (checked: number): void => status.show('checking the log', `${checked} of ${rows ?? 0} rows`)
    const verified = await verifyChain(join(directory, EVENTS_FILE), onRows)
    if (E.isLeft(verified)) {
      const { position, reason } = verified.left
      throw new Error(`the log of the backup is damaged at position ${position}: ${reason}`)
    }
    if (verified.right !== rows)
      throw new Error(`the log of the backup has ${verified.right} rows, but its manifest says ${rows}`)
  }
  if (!existsSync(keyFile)) throw new Error(`the backup holds no master key, and ${keyFile} does not exist`)
  if (files[KEYRING_FILE] === undefined) return
  status.show('checking the keys')
  const { problems } = await verifyKeys(sqliteKeyRows(join(directory, KEYRING_FILE)), await loadMasterKey(keyFile))
  if (problems.length > 0)
    throw new Error(`the master key ${keyFile} does not belong to the backup: it cannot open ${problems.length} keys`)
}

/** Throws an Error when the settings use other servers than the backed-up service. */
const requireSameServers = (settings: Settings, { servers = [] }: Manifest): void => {
  const [backedUp, current] = [servers, serversOf(settings)].map((names) => names.join(' and ') || 'no server')
  if (backedUp === current) return
  throw new Error(`the backup belongs to a service with ${backedUp}, but these settings use ${current}`)
}

/** Throws a CommandError while the service runs. */
const requireStopped = ({ dataDir }: Settings): void => {
  if (isDataDirectoryInUse(dataDir))
    throw new CommandError(`Another process uses the data directory ${dataDir}.`, { hint: 'Stop the service first.' })
}

/** Throws a CommandError when there is data to replace, unless the user allows that. */
const requireReplaceable = (
  directory: string, settings: Settings, { servers }: Manifest, isAllowed: boolean,
): void => {
  const present = databasesNotOn(servers ?? []).filter((name) => existsSync(join(settings.dataDir, name)))
  if (present.length > 0 && !isAllowed)
    throw new CommandError(`${settings.dataDir} is not empty. Back it up, then add --replace.`, {
      hint: `npm run stenolog -- backup ${directory}-before`,
    })
}

/** Runs `stenolog restore --check`. Resolves to the exit code: 1 when the log and the keys do not fit. */
const check = async (settings: Settings): Promise<number> => {
  const { lines, problems } = await withStatus((status) => checkRestored(settings, status))
  for (const line of lines) console.log(line)
  for (const problem of problems) console.log(`problem: ${problem}`)
  if (problems.length === 0) console.log('The log and the keys fit together.')
  return problems.length === 0 ? 0 : 1
}

/** Runs `stenolog restore --in-place`: records that the embedded log was put back by other means. */
const restoreInPlace = async (settings: Settings, options: RestoreOptions): Promise<number> => {
  if (settings.eventstoreUrl !== null)
    throw new CommandError('The log is in EventStoreDB.', { hint: 'npm run stenolog -- log take-over' })
  dataFiles(settings)
  requireStopped(settings)
  const report = await withStatus((status) => recordPresent(settings, options, status))
  console.log(`The log in ${settings.dataDir} is recorded as restored.`)
  for (const line of linesOf(report)) console.log(line)
  return 0
}

/** Runs `stenolog restore`. Resolves to the exit code. */
export const restore = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [directory], options: values } = readArguments(RESTORE, args)
  const settings = toolSettings()
  if (values.check) return await check(settings)
  const options = { lostIds: Number(values['lost-ids']), skipUnreadable: values['skip-unreadable'] }
  if (values['in-place']) return await restoreInPlace(settings, options)
  if (directory === undefined) {
    const help = 'npm run stenolog -- restore --help'
    throw usageError(`stenolog restore needs DIR: ${RESTORE.arguments.DIR.meaning}.`, help)
  }
  requireEmbedded('restore', settings)
  const manifest = await withStatus((status) => {
    status.show('checking the backup')
    return readManifest(directory)
  })
  requireSameServers(settings, manifest)
  requireStopped(settings)
  const lock = takeDataDirectory(settings.dataDir)
  try {
    requireReplaceable(directory, settings, manifest, values.replace)
    const { erasedAgain, ...report } = await withStatus(async (status) => {
      await requireUsable(directory, keyFor(directory, settings, manifest), manifest, status)
      return await restoreFiles({ directory, settings, manifest, options, status })
    })
    console.log(`${contentOf(manifest, ` of ${manifest.createdAt}`)} are in ${settings.dataDir}`)
    if (erasedAgain > 0) console.log(`${erasedAgain} keys that were erased after the backup were erased again`)
    for (const line of linesOf(report)) console.log(line)
    for (const server of manifest.servers ?? [])
      console.log(`The data in ${server} must have been restored before this command. If not, restore it and repeat.`)
    return 0
  } finally {
    lock.release()
  }
}
