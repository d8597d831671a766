import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { sha256Of } from '../../../infrastructure/files/file-hash.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { CommandError } from '../../command-error.ts'
import { DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE } from '../../compose/stores.ts'

/** Version of the backup format. A format that older versions of Stenolog cannot restore gets a higher number. */
export const BACKUP_FORMAT = 2

export const MANIFEST_FILE = 'backup.json'
export const MASTER_KEY_FILE = 'master.key'

/**
 * In copying order: the copied read models are never ahead of the copied log, and the copied keyring has every key of
 * the log.
 */
const BACKED_UP = [DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE] as const

const LOG_SERVER = 'EventStoreDB'
const READ_SERVER = 'MongoDB'

type ServerSettings = Pick<Settings, 'eventstoreUrl' | 'mongoUrl'>

/** Returns the names of the servers that replace embedded databases. */
export const serversOf = ({ eventstoreUrl, mongoUrl }: ServerSettings): ReadonlyArray<string> => [
  ...(eventstoreUrl === null ? [] : [LOG_SERVER]),
  ...(mongoUrl === null ? [] : [READ_SERVER]),
]

/** Returns the embedded databases that these servers do not replace, in copying order. */
export const databasesNotOn = (servers: ReadonlyArray<string>): ReadonlyArray<string> =>
  BACKED_UP.filter((name) => !servers.includes(name === EVENTS_FILE ? LOG_SERVER : READ_SERVER))

/** Throws a CommandError when servers hold all stores, because `command` handles only embedded databases. */
export const requireEmbedded = (command: string, settings: ServerSettings): void => {
  const servers = serversOf(settings)
  if (databasesNotOn(servers).length > 0) return
  throw new CommandError(
    `${command} copies only the data directory, but these settings store all data in ${servers.join(' and ')}.`,
    { hint: 'Use the tools of the servers as docs/operate/backup-and-restore.md describes, and keep the master key.' },
  )
}

/** Describes the content of a backup for the user. */
export const contentOf = ({ rows, servers = [] }: Pick<Manifest, 'rows' | 'servers'>, when = ''): string => {
  const log = `${rows ?? 0} rows of the log${when}`
  if (servers.includes(LOG_SERVER)) return `the keys and read models${when}`
  return servers.includes(READ_SERVER) ? log : `${log}, their keys and read models`
}

const manifest = t.strict({
  format: t.number,
  version: t.string,
  createdAt: t.string,
  /** Rows of the log; null when a server holds the log. */
  rows: t.union([t.number, t.null]),
  /** Servers that hold the other stores, which are not in the backup. Older backups lack this member: no servers. */
  servers: t.union([t.readonlyArray(t.string), t.undefined]),
  /** SHA-256 of each file by its name, in hexadecimal. */
  files: t.record(t.string, t.string),
})
export type Manifest = t.TypeOf<typeof manifest>

export const productVersion = async (): Promise<string> => {
  const file = join(import.meta.dirname, '..', '..', '..', 'package.json')
  return decodeOrThrow(t.type({ version: t.string }), JSON.parse(await readFile(file, 'utf8'))).version
}

const numbersOf = (version: string): ReadonlyArray<number> => version.split('.').map(Number)

const isNewer = (version: string, ours: string): boolean => {
  const [theirs, mine] = [numbersOf(version), numbersOf(ours)]
  const differing = theirs.findIndex((number, index) => number !== (mine[index] ?? 0))
  return differing >= 0 && (theirs[differing] ?? 0) > (mine[differing] ?? 0)
}

/** A disk that became full while the manifest was written leaves only its begin. */
const parsed = (directory: string, text: string): Manifest => {
  try {
    return decodeOrThrow(manifest, JSON.parse(text))
  } catch {
    throw new Error(`${directory} is not a complete backup: ${MANIFEST_FILE} is cut off or changed`)
  }
}

/**
 * Reads the manifest of a backup and verifies its files. Throws an Error when the backup is incomplete, damaged or too
 * new.
 */
export const readManifest = async (directory: string): Promise<Manifest> => {
  const text = await readFile(join(directory, MANIFEST_FILE), 'utf8').catch(() => {
    throw new Error(`${directory} is not a complete backup: ${MANIFEST_FILE} is missing`)
  })
  const found = parsed(directory, text)
  const { version } = found
  const ours = await productVersion()
  if (isNewer(version, ours))
    throw new Error(`the backup was made by version ${version}; this is version ${ours}. Use ${version} or later`)
  // Development builds with the same version number can have different formats.
  if (found.format > BACKUP_FORMAT)
    throw new Error(
      `the backup has format ${found.format}, but this build of version ${ours} reads formats up to ${BACKUP_FORMAT}. `
        + 'Use the build that made the backup, or a later build',
    )
  for (const name of databasesNotOn(found.servers ?? []))
    if (found.files[name] === undefined) throw new Error(`the backup is incomplete: ${name} is missing`)
  for (const [name, digest] of Object.entries(found.files)) {
    const actual = await sha256Of(join(directory, name)).catch(() => null)
    if (actual === null) throw new Error(`the backup is incomplete: ${name} is missing`)
    if (actual !== digest) throw new Error(`the backup is damaged: ${name} was changed`)
  }
  return found
}
