import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { sync } from '../../../infrastructure/files/sync.ts'
import { createEnvironment } from '../../../infrastructure/node/environment.ts'
import { sha256Of } from '../../../infrastructure/files/file-hash.ts'
import { copyDatabase } from '../../../infrastructure/sqlite/copy-database.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { ERASE_AGAIN_FILE } from '../../compose/erase-again.ts'
import { EVENTS_FILE } from '../../compose/stores.ts'
import { BACKUP_FORMAT, MANIFEST_FILE, MASTER_KEY_FILE, contentOf, embeddedBeside } from './backup-manifest.ts'
import { productVersion, requireEmbedded, serversOf } from './backup-manifest.ts'
import type { Manifest } from './backup-manifest.ts'
import { dataFiles } from './tool-data.ts'
import { CommandError } from '../../command-error.ts'
import { readArguments } from '../commands/read-arguments.ts'
import { BACKUP } from '../commands/stores.ts'
import { withStatus } from '../status-line.ts'
import type { StatusLine } from '../status-line.ts'
import { toolSettings } from '../tool-settings.ts'

/** The keyring that is kept must be no older than the log: an event without its key can never be read. */
const ORDER: Readonly<Record<string, string>> = {
  EventStoreDB: 'keep a copy of it that was made before this one.',
  MongoDB: 'keep a copy of it that is made after this one.',
}

const requireEmpty = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if ((await readdir(directory)).length > 0) throw new CommandError(`${directory} is not empty.`, { hint: 'Name a new folder, such as /srv/backup-2.' })
}

const writeDurably = async (file: string, text: string): Promise<void> => {
  await writeFile(file, text, { mode: 0o600 })
  await sync(file, 'r+')
}

/** Copies one file into the backup; answers its digest. */
const copied = async (file: string, target: string): Promise<string> => {
  await copyFile(file, target)
  return await sha256Of(target)
}

interface Copying {
  readonly settings: Settings
  readonly directory: string
  readonly servers: ReadonlyArray<string>
  /** Null where it is left out. */
  readonly masterKey: string | null
  readonly status: StatusLine
}

/** Copies everything but the manifest, and walks the log that was copied. */
const copyAll = async ({ settings, directory, servers, masterKey, status }: Copying) => {
  const digests: Record<string, string> = {}
  // What a restore has left for the next start. First: the start that does it writes it into the log, then removes it.
  const eraseAgain = join(settings.dataDir, ERASE_AGAIN_FILE)
  if (existsSync(eraseAgain)) digests[ERASE_AGAIN_FILE] = await copied(eraseAgain, join(directory, ERASE_AGAIN_FILE))
  for (const name of embeddedBeside(servers)) {
    status.show(`copying ${name}`, `${Math.ceil((await stat(join(settings.dataDir, name))).size / 1e6)} MB`)
    await copyDatabase(join(settings.dataDir, name), join(directory, name))
    digests[name] = await sha256Of(join(directory, name))
  }
  if (masterKey !== null) digests[MASTER_KEY_FILE] = await copied(masterKey, join(directory, MASTER_KEY_FILE))
  const onRows = (rows: number): void => status.show('checking the log', `${rows} rows`)
  const verified = settings.eventstoreUrl === null ? await verifyChain(join(directory, EVENTS_FILE), onRows) : E.right(null)
  return { digests, verified }
}

/** Makes the backup; resolves to the exit code: 1 when the log is damaged. */
export const backup = async (args: ReadonlyArray<string>): Promise<number> => {
  const { operands: [directory = ''], options: values } = readArguments(BACKUP, args)
  const settings = toolSettings()
  requireEmbedded('backup', settings)
  const { masterKey } = dataFiles(settings)
  await requireEmpty(directory)
  const servers = serversOf(settings)
  const withKey = settings.masterKeyFile === null && !values['without-key']
  const { digests, verified } = await withStatus((status) => copyAll({ settings, directory, servers, masterKey: withKey ? masterKey : null, status }))
  const rows = E.isRight(verified) ? verified.right : Number(verified.left.position) - 1
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    version: await productVersion(),
    createdAt: createEnvironment().now(),
    rows,
    servers,
    files: digests,
  }
  // Last: a directory without it is no backup.
  await writeDurably(join(directory, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
  console.log(`${contentOf(manifest)} are in ${directory}`)
  for (const server of servers) console.log(`What ${server} holds is not there: ${ORDER[server] ?? ''}`)
  console.log(
    withKey
      ? 'The master key is there too: keep the backup as safe as the service.'
      : 'The master key is not there: keep it elsewhere, the backup is of no use without it.',
  )
  if (E.isRight(verified)) return 0
  console.error(`error: the log is damaged from position ${verified.left.position} on: ${verified.left.reason}\nhint: npm run stenolog -- check`)
  return 1
}
