import { existsSync } from 'node:fs'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { copyPrivately } from '../../../infrastructure/files/copy-privately.ts'
import { sync } from '../../../infrastructure/files/sync.ts'
import { createEnvironment } from '../../../infrastructure/process/clock-and-ids.ts'
import { sha256Of } from '../../../infrastructure/files/file-hash.ts'
import { copyDatabase } from '../../../infrastructure/sqlite/copy-database.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { DELETIONS_FILE } from '../../compose/restoring/deletions.ts'
import { EVENTS_FILE } from '../../compose/stores.ts'
import {
  BACKUP_FORMAT, contentOf, databasesNotOn, type Manifest, MANIFEST_FILE, MASTER_KEY_FILE, productVersion,
  requireEmbedded, serversOf,
} from './backup-manifest.ts'
import { dataFiles } from '../data-files.ts'
import { CommandError } from '../../command-error.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { BACKUP } from '../commands/stores.ts'
import { type StatusLine, withStatus } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

/** The copy of the log must be older than the copy of the keyring: an event without its key can never be read. */
const SERVER_ADVICE: Readonly<Record<string, string>> = {
  EventStoreDB: 'Keep a copy of EventStoreDB that is older than this backup.',
  MongoDB: 'Keep a copy of MongoDB that is newer than this backup.',
}

const requireEmpty = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if ((await readdir(directory)).length > 0)
    throw new CommandError(`${directory} is not empty.`, { hint: 'Choose a new folder, such as /srv/backup-2.' })
}

const writeDurably = async (file: string, text: string): Promise<void> => {
  await writeFile(file, text, { mode: 0o600 })
  await sync(file, 'r+')
}

/** Copies one file into the backup. Resolves to its digest. */
const copyAndHash = async (file: string, target: string): Promise<string> => {
  await copyPrivately(file, target)
  return await sha256Of(target)
}

interface BackupTask {
  readonly settings: Settings
  readonly directory: string
  readonly servers: ReadonlyArray<string>
  /** Null when the backup leaves out the key. */
  readonly masterKey: string | null
  readonly status: StatusLine
}

/** Copies all files except the manifest, and verifies the copied log. */
const copyAll = async ({ settings, directory, servers, masterKey, status }: BackupTask) => {
  const digests: Record<string, string> = {}
  // After a restore, a file lists the keys that the next start must erase. That start writes the erasures into the log
  // and then deletes the file. So the file is copied before the log: the backup has the list, the erasures, or both.
  const repeatErasures = join(settings.dataDir, DELETIONS_FILE)
  if (existsSync(repeatErasures))
    digests[DELETIONS_FILE] = await copyAndHash(repeatErasures, join(directory, DELETIONS_FILE))
  for (const name of databasesNotOn(servers)) {
    status.show(`copying ${name}`, `${Math.ceil((await stat(join(settings.dataDir, name))).size / 1e6)} MB`)
    await copyDatabase(join(settings.dataDir, name), join(directory, name))
    digests[name] = await sha256Of(join(directory, name))
  }
  if (masterKey !== null) digests[MASTER_KEY_FILE] = await copyAndHash(masterKey, join(directory, MASTER_KEY_FILE))
  const onRows = (rows: number): void => status.show('checking the log', `${rows} rows`)
  const verified = settings.eventstoreUrl === null
    ? await verifyChain(join(directory, EVENTS_FILE), onRows)
    : E.right(null)
  return { digests, verified }
}

/** Says that a backup has no manifest, and why: a full disk, for instance. */
const incomplete = (directory: string) => (error: unknown): never => {
  throw new CommandError(
    `the backup in ${directory} is incomplete: ${error instanceof Error ? error.message : String(error)}`,
    { hint: 'It cannot be restored. Delete this folder, remove the cause, and run the command again.' },
  )
}

/** Runs `stenolog backup`. Resolves to the exit code: 1 when the log is damaged. */
export const backup = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [directory = ''], options: values } = readArguments(BACKUP, args)
  const settings = toolSettings()
  requireEmbedded('backup', settings)
  const { masterKey } = dataFiles(settings)
  await requireEmpty(directory)
  const servers = serversOf(settings)
  const withKey = settings.masterKeyFile === null && !values['without-key']
  const { digests, verified } = await withStatus((status) =>
    copyAll({ settings, directory, servers, masterKey: withKey ? masterKey : null, status }),
  ).catch(incomplete(directory))
  const rows = E.isRight(verified) ? verified.right : Number(verified.left.position) - 1
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    version: await productVersion(),
    createdAt: createEnvironment().now(),
    rows,
    servers,
    files: digests,
  }
  // The manifest comes last: it marks the backup as complete.
  await writeDurably(join(directory, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
    .catch(incomplete(directory))
  console.log(`${contentOf(manifest)} are in ${directory}`)
  for (const server of servers) console.log(`The data in ${server} are not included. ${SERVER_ADVICE[server] ?? ''}`)
  console.log(
    withKey
      ? 'The backup includes the master key: keep it as safe as the service.'
      : 'The backup does not include the master key. Keep a copy of the key: the backup is useless without it.',
  )
  if (E.isRight(verified)) return 0
  const { position, reason } = verified.left
  console.error(`error: the log is damaged at position ${position}: ${reason}\nhint: npm run stenolog -- check`)
  return 1
}
