import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { sync } from '../../../infrastructure/files/sync.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { eraseKeys, erasedKeys } from '../../../infrastructure/sqlite/copy-database.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { sqliteKeyRows } from '../../../infrastructure/sqlite/verify-files.ts'
import { verifyKeys } from '../../../infrastructure/keys/verify-keys.ts'
import { ERASE_AGAIN_FILE } from '../../compose/erase-again.ts'
import { EVENTS_FILE, KEYRING_FILE, UNFINISHED_RESTORE, masterKeyPath, takeDataDirectory } from '../../compose/stores.ts'
import { MASTER_KEY_FILE, contentOf, embeddedBeside, readManifest } from './backup-manifest.ts'
import { requireEmbedded, serversOf } from './backup-manifest.ts'
import type { Manifest } from './backup-manifest.ts'
import { SERVER_LIMIT_MS, isServiceRunning } from './tool-data.ts'
import { CommandError } from '../../command-error.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { RESTORE } from '../commands/stores.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

/** Databases have files beside them. */
const BESIDE = ['-wal', '-shm', '-journal']

/** Where the key of the restored stores is: as set, in the backup, or in the data directory already. */
const keyFor = (directory: string, settings: Settings, { files }: Manifest): string => {
  if (settings.masterKeyFile !== null) return settings.masterKeyFile
  return files[MASTER_KEY_FILE] === undefined ? masterKeyPath(settings) : join(directory, MASTER_KEY_FILE)
}

/** Throws an Error for people unless the backup can be used with the key that the service will have. */
const requireUsable = async (directory: string, keyFile: string, { rows, files }: Manifest, status: StatusLine): Promise<void> => {
  if (files[EVENTS_FILE] !== undefined) {
    const verified = await verifyChain(join(directory, EVENTS_FILE), (seen) => status.show('checking the log', `${seen} of ${rows ?? 0} rows`))
    if (E.isLeft(verified)) {
      const { position, reason } = verified.left
      throw new Error(`the log of the backup is damaged at position ${position}: ${reason}`)
    }
    if (verified.right !== rows) throw new Error(`the log of the backup has ${verified.right} rows, not ${rows}`)
  }
  if (!existsSync(keyFile)) throw new Error(`the backup holds no master key, and there is none at ${keyFile}`)
  if (files[KEYRING_FILE] === undefined) return
  status.show('checking the keys')
  const { problems } = await verifyKeys(sqliteKeyRows(join(directory, KEYRING_FILE)), await loadMasterKey(keyFile))
  if (problems.length > 0) throw new Error(`the master key ${keyFile} is not that of the backup: ${problems.length} keys do not open`)
}

/** None where the keyring is what is broken: the rest of the restore is wanted all the same. */
const erasedSoFar = (file: string): ReadonlyArray<string> => {
  try {
    return erasedKeys(file)
  } catch (error) {
    console.error(`warning: which keys were erased since cannot be read from ${file}: ${messageOf(error)}`)
    return []
  }
}

/** Throws an Error for people unless the settings name the servers that hold what is not in the backup. */
const requireSameServers = (settings: Settings, { servers = [] }: Manifest): void => {
  const [then, now] = [servers, serversOf(settings)].map((names) => names.join(' and ') || 'no server')
  if (then === now) return
  throw new Error(`the backup was made with ${then}, and these settings name ${now}: it holds what lies beside the servers`)
}

/** Names of keys that were erased since the backup, by the keyring that is there or that of the server. */
const erasedSince = async ({ mongoUrl, streamPrefix: prefix }: Settings, keyring: string): Promise<ReadonlyArray<string>> => {
  if (mongoUrl === null) return existsSync(keyring) ? erasedSoFar(keyring) : []
  const { connectMongo } = await import('../../../infrastructure/mongodb/connection.ts')
  const { erasedMongoKeys } = await import('../../../infrastructure/mongodb/keyring.ts')
  const connection = await connectMongo(mongoUrl, { prefix, limitMs: SERVER_LIMIT_MS })
  try {
    return await erasedMongoKeys(connection)
  } finally {
    await connection.close()
  }
}

/** What the service that was backed up had yet to delete again. */
const leftToErase = async (directory: string, { files }: Manifest): Promise<ReadonlyArray<string>> => {
  if (files[ERASE_AGAIN_FILE] === undefined) return []
  return decodeOrThrow(t.readonlyArray(t.string), JSON.parse(await readFile(join(directory, ERASE_AGAIN_FILE), 'utf8')))
}

const put = async (staged: string, target: string): Promise<void> => {
  for (const suffix of BESIDE) await rm(`${target}${suffix}`, { force: true })
  await rename(staged, target)
}

/** Puts the backup in place; throws an Error for people when it is refused. */
const putInPlace = async (directory: string, settings: Settings, manifest: Manifest, replace: boolean, status: StatusLine): Promise<number> => {
  const target = (name: string): string => join(settings.dataDir, name)
  const databases = embeddedBeside(manifest.servers ?? [])
  const there = databases.filter((name) => existsSync(target(name)))
  if (there.length > 0 && !replace) throw new CommandError(`${settings.dataDir} is not empty. Back it up, then add --replace.`, { hint: `npm run stenolog -- backup ${directory}-before` })
  const keyFile = keyFor(directory, settings, manifest)
  await requireUsable(directory, keyFile, manifest, status)

  // What was erased stays erased; the list is in the keyring that is there until the very end, so that a second try finds it.
  status.clear()
  const erased = await erasedSince(settings, target(KEYRING_FILE))
  const staged = (name: string): string => target(`${name}.restoring`)
  const withKey = manifest.files[MASTER_KEY_FILE] !== undefined && settings.masterKeyFile === null
  const files = [...databases, ...(withKey ? [MASTER_KEY_FILE] : [])]
  for (const name of files) {
    status.show(`copying ${name}`)
    await copyFile(join(directory, name), staged(name))
  }
  const again = databases.includes(KEYRING_FILE) ? eraseKeys(staged(KEYRING_FILE), erased) : 0
  for (const suffix of BESIDE) await rm(`${staged(KEYRING_FILE)}${suffix}`, { force: true })
  const toErase = [...new Set([...erased, ...(await leftToErase(directory, manifest))])]
  for (const name of files) await sync(staged(name))
  await writeFile(target(ERASE_AGAIN_FILE), JSON.stringify(toErase), { mode: 0o600 })
  await sync(target(ERASE_AGAIN_FILE))
  await writeFile(target(UNFINISHED_RESTORE), `from ${directory}\n`, { mode: 0o600 })
  await sync(settings.dataDir)
  for (const name of files.toSorted((a, b) => Number(a === KEYRING_FILE) - Number(b === KEYRING_FILE))) await put(staged(name), target(name))
  await sync(settings.dataDir)
  await rm(target(UNFINISHED_RESTORE))
  return again
}

/** Restores; resolves to the exit code. */
export const restore = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [directory = ''], options: values } = readArguments(RESTORE, args)
  const settings = toolSettings()
  requireEmbedded('restore', settings)
  const manifest = await withStatus((status) => {
    status.show('checking the backup')
    return readManifest(directory)
  })
  requireSameServers(settings, manifest)
  if (isServiceRunning(settings.dataDir)) throw new CommandError(`Another process uses the data directory ${settings.dataDir}.`, { hint: 'Stop the service first.' })
  const lock = takeDataDirectory(settings.dataDir)
  try {
    const again = await withStatus((status) => putInPlace(directory, settings, manifest, values.replace, status))
    console.log(`${contentOf(manifest, ` of ${manifest.createdAt}`)} are in ${settings.dataDir}`)
    for (const server of manifest.servers ?? [])
      console.log(`What ${server} holds is to be restored with its own tools, before the service starts.`)
    if (again > 0) console.log(`${again} keys that were erased since were erased again`)
    return 0
  } finally {
    lock.release()
  }
}
