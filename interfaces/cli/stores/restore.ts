import { existsSync } from 'node:fs'
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { copyPrivately } from '../../../infrastructure/files/copy-privately.ts'
import { sync } from '../../../infrastructure/files/sync.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { eraseKeys, erasedKeys } from '../../../infrastructure/sqlite/copy-database.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { sqliteKeyRows } from '../../../infrastructure/sqlite/verify-files.ts'
import { verifyKeys } from '../../../infrastructure/keys/verify-keys.ts'
import { ERASURES_FILE } from '../../compose/repeat-erasures.ts'
import {
  EVENTS_FILE, KEYRING_FILE, UNFINISHED_RESTORE, masterKeyPath, takeDataDirectory,
} from '../../compose/stores.ts'
import { MASTER_KEY_FILE, contentOf, databasesNotOn, readManifest } from './backup-manifest.ts'
import { requireEmbedded, serversOf } from './backup-manifest.ts'
import type { Manifest } from './backup-manifest.ts'
import { SERVER_LIMIT_MS, isServiceRunning } from './tool-data.ts'
import { CommandError } from '../../command-error.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { RESTORE } from '../commands/stores.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

/** Endings of the files that SQLite keeps next to a database. */
const SQLITE_SUFFIXES = ['-wal', '-shm', '-journal']

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

/**
 * Returns the names of the erased keys. If the keyring cannot be read, prints a warning and returns an empty list: the
 * user may be restoring the backup in order to replace this broken keyring.
 */
const erasedIn = (file: string): ReadonlyArray<string> => {
  try {
    return erasedKeys(file)
  } catch (error) {
    console.error(`warning: the list of erased keys cannot be read from ${file}: ${messageOf(error)}`)
    return []
  }
}

/** Throws an Error when the settings use other servers than the backed-up service. */
const requireSameServers = (settings: Settings, { servers = [] }: Manifest): void => {
  const [backedUp, current] = [servers, serversOf(settings)].map((names) => names.join(' and ') || 'no server')
  if (backedUp === current) return
  throw new Error(`the backup belongs to a service with ${backedUp}, but these settings use ${current}`)
}

/**
 * Reads the names of erased keys from the present keyring: the database in the data directory or the one in MongoDB.
 */
const erasedSince = async (
  { mongoUrl, streamPrefix: prefix }: Settings,
  keyring: string,
): Promise<ReadonlyArray<string>> => {
  if (mongoUrl === null) return existsSync(keyring) ? erasedIn(keyring) : []
  const { connectMongo } = await import('../../../infrastructure/mongodb/connection.ts')
  const { erasedMongoKeys } = await import('../../../infrastructure/mongodb/keyring.ts')
  const connection = await connectMongo(mongoUrl, { prefix, limitMs: SERVER_LIMIT_MS })
  try {
    return await erasedMongoKeys(connection)
  } finally {
    await connection.close()
  }
}

/** Reads the keys that the backed-up service still had to erase after an earlier restore. */
const pendingErasures = async (directory: string, { files }: Manifest): Promise<ReadonlyArray<string>> => {
  if (files[ERASURES_FILE] === undefined) return []
  return decodeOrThrow(t.readonlyArray(t.string), JSON.parse(await readFile(join(directory, ERASURES_FILE), 'utf8')))
}

/** Closes the data directory for other users. It stays open, with a warning, if it belongs to another user. */
const closeToOthers = (dataDir: string): Promise<void> =>
  chmod(dataDir, 0o700).catch((error: unknown) =>
    console.error(`warning: other users may be able to enter ${dataDir}: ${messageOf(error)}`))

const moveIntoPlace = async (staged: string, target: string): Promise<void> => {
  for (const suffix of SQLITE_SUFFIXES) await rm(`${target}${suffix}`, { force: true })
  await rename(staged, target)
}

interface RestoreTask {
  readonly directory: string
  readonly settings: Settings
  readonly manifest: Manifest
  readonly replace: boolean
  readonly status: StatusLine
}

/**
 * Restores the files of the backup. Resolves to the number of keys that were erased again. Throws when it refuses the
 * backup.
 */
const restoreFiles = async ({ directory, settings, manifest, replace, status }: RestoreTask): Promise<number> => {
  const target = (name: string): string => join(settings.dataDir, name)
  const databases = databasesNotOn(manifest.servers ?? [])
  const present = databases.filter((name) => existsSync(target(name)))
  if (present.length > 0 && !replace)
    throw new CommandError(`${settings.dataDir} is not empty. Back it up, then add --replace.`, {
      hint: `npm run stenolog -- backup ${directory}-before`,
    })
  const keyFile = keyFor(directory, settings, manifest)
  await requireUsable(directory, keyFile, manifest, status)

  // Erased keys must stay erased. The present keyring lists them and is replaced last, so a second attempt finds the
  // list.
  status.clear()
  await closeToOthers(settings.dataDir)
  const erased = await erasedSince(settings, target(KEYRING_FILE))
  const staged = (name: string): string => target(`${name}.restoring`)
  const withKey = manifest.files[MASTER_KEY_FILE] !== undefined && settings.masterKeyFile === null
  const files = [...databases, ...(withKey ? [MASTER_KEY_FILE] : [])]
  for (const name of files) {
    status.show(`copying ${name}`)
    // An interrupted restore may have left it.
    await rm(staged(name), { force: true })
    await copyPrivately(join(directory, name), staged(name))
  }
  const erasedAgain = databases.includes(KEYRING_FILE) ? eraseKeys(staged(KEYRING_FILE), erased) : 0
  for (const suffix of SQLITE_SUFFIXES) await rm(`${staged(KEYRING_FILE)}${suffix}`, { force: true })
  const toErase = [...new Set([...erased, ...(await pendingErasures(directory, manifest))])]
  for (const name of files) await sync(staged(name))
  await writeFile(target(ERASURES_FILE), JSON.stringify(toErase), { mode: 0o600 })
  await sync(target(ERASURES_FILE))
  await writeFile(target(UNFINISHED_RESTORE), `from ${directory}\n`, { mode: 0o600 })
  await sync(settings.dataDir)
  const keyringLast = files.toSorted((a, b) => Number(a === KEYRING_FILE) - Number(b === KEYRING_FILE))
  for (const name of keyringLast) await moveIntoPlace(staged(name), target(name))
  await sync(settings.dataDir)
  await rm(target(UNFINISHED_RESTORE))
  return erasedAgain
}

/** Runs `stenolog restore`. Resolves to the exit code. */
export const restore = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [directory = ''], options: values } = readArguments(RESTORE, args)
  const settings = toolSettings()
  requireEmbedded('restore', settings)
  const manifest = await withStatus((status) => {
    status.show('checking the backup')
    return readManifest(directory)
  })
  requireSameServers(settings, manifest)
  if (isServiceRunning(settings.dataDir))
    throw new CommandError(`Another process uses the data directory ${settings.dataDir}.`, {
      hint: 'Stop the service first.',
    })
  const lock = takeDataDirectory(settings.dataDir)
  try {
    const { replace } = values
    const erasedAgain = await withStatus((status) => restoreFiles({ directory, settings, manifest, replace, status }))
    console.log(`${contentOf(manifest, ` of ${manifest.createdAt}`)} are in ${settings.dataDir}`)
    for (const server of manifest.servers ?? [])
      console.log(`Restore the data in ${server} with its own tools before you start the service.`)
    if (erasedAgain > 0) console.log(`${erasedAgain} keys that were erased after the backup were erased again`)
    return 0
  } finally {
    lock.release()
  }
}
