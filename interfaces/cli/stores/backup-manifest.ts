import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { sha256Of } from '../../../infrastructure/files/file-hash.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE } from '../../compose/stores.ts'

/** Raised whenever an older version could not restore what a newer one backs up. */
export const BACKUP_FORMAT = 2

export const MANIFEST_FILE = 'backup.json'
export const MASTER_KEY_FILE = 'master.key'

/** In the order in which they are copied: a read model never knows more than the log, and the log no key that is missing. */
const BACKED_UP = [DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE] as const

const LOG_SERVER = 'EventStoreDB'
const READ_SERVER = 'MongoDB'

type ServerSettings = Pick<Settings, 'eventstoreUrl' | 'mongoUrl'>

/** Which servers hold what would lie in the data directory otherwise. */
export const serversOf = ({ eventstoreUrl, mongoUrl }: ServerSettings): ReadonlyArray<string> => [
  ...(eventstoreUrl === null ? [] : [LOG_SERVER]),
  ...(mongoUrl === null ? [] : [READ_SERVER]),
]

/** The databases that lie in the data directory beside such servers, in the order in which they are copied. */
export const embeddedBeside = (servers: ReadonlyArray<string>): ReadonlyArray<string> =>
  BACKED_UP.filter((name) => !servers.includes(name === EVENTS_FILE ? LOG_SERVER : READ_SERVER))

/** Throws an Error for people where nothing lies in the data directory that `command` could copy. */
export const requireEmbedded = (command: string, settings: ServerSettings): void => {
  const servers = serversOf(settings)
  if (embeddedBeside(servers).length > 0) return
  const named = servers.join(' and ')
  throw new Error(
    `${command} copies what lies in the data directory, and these settings name ${named} for all of it: ` +
      'use the tools of the servers (docs/operate/backup-and-restore.md says in which order), and keep the master key',
  )
}

/** What a backup holds, for people. */
export const contentOf = ({ rows, servers = [] }: Pick<Manifest, 'rows' | 'servers'>, when = ''): string => {
  const log = `${rows ?? 0} rows of the log${when}`
  if (servers.includes(LOG_SERVER)) return `the keys and read models${when}`
  return servers.includes(READ_SERVER) ? log : `${log}, their keys and read models`
}

const manifest = t.strict({
  format: t.number,
  version: t.string,
  createdAt: t.string,
  /** Rows of the log; null where that is on a server. */
  rows: t.union([t.number, t.null]),
  /** Servers that held the rest, so that it is not in here; none where it is missing. */
  servers: t.union([t.readonlyArray(t.string), t.undefined]),
  /** SHA-256 by name of file, in hexadecimal. */
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
  const at = theirs.findIndex((number, index) => number !== (mine[index] ?? 0))
  return at >= 0 && (theirs[at] ?? 0) > (mine[at] ?? 0)
}

/** The manifest of a backup; throws an Error for people when it is none, is not complete, was changed, or is of a newer version. */
export const readManifest = async (directory: string): Promise<Manifest> => {
  const text = await readFile(join(directory, MANIFEST_FILE), 'utf8').catch(() => {
    throw new Error(`${directory} holds no complete backup: ${MANIFEST_FILE} is missing`)
  })
  const found = decodeOrThrow(manifest, JSON.parse(text))
  const ours = await productVersion()
  if (found.format > BACKUP_FORMAT || isNewer(found.version, ours))
    throw new Error(`the backup was made by version ${found.version}; this is ${ours}: restore it with that version or a later one`)
  for (const name of embeddedBeside(found.servers ?? []))
    if (found.files[name] === undefined) throw new Error(`the backup is not complete: ${name} is missing`)
  for (const [name, digest] of Object.entries(found.files)) {
    const is = await sha256Of(join(directory, name)).catch(() => null)
    if (is === null) throw new Error(`the backup is not complete: ${name} is missing`)
    if (is !== digest) throw new Error(`the backup is damaged: ${name} is not what was written`)
  }
  return found
}
