import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { History } from '../../../application/restore/history.ts'
import { readHistory } from '../../../application/restore/read-history.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { openForReading } from '../../../infrastructure/sqlite/database.ts'
import { firstHash, readReplacedLog } from '../../../infrastructure/sqlite/event-log/replaced-log.ts'
import { readKeyNames } from '../../../infrastructure/sqlite/keyring/key-names.ts'
import { EVENTS_FILE, KEYRING_FILE, SERVER_LIMIT_MS } from '../stores.ts'

/** Shows what a restore does at present. */
export interface Progress {
  /** `detail` describes the progress within the step. */
  readonly show: (step: string, detail?: string) => void
}

/** What the data that a restore replaces says about the time after the backup. */
export interface ReplacedData {
  /** Null: there is no log of this service to replace. */
  readonly log: History | null
  readonly erasedKeys: ReadonlyArray<string>
  /** Names of all keys that exist or existed, also those in the backup. */
  readonly keyNames: ReadonlyArray<string>
  /** What could not be read. */
  readonly problems: ReadonlySet<string>
}

/** Whether a replaced file has the first row or the probe of the copy. Null: there is no such file. */
interface Compared {
  readonly isSame: boolean | null
}

type Keys = Pick<ReplacedData, 'erasedKeys' | 'keyNames' | 'problems'> & Compared
type Log = Pick<ReplacedData, 'log' | 'problems'> & Compared

const NO_LOG: Log = { log: null, problems: new Set(), isSame: null }
const NO_KEYS: Keys = { erasedKeys: [], keyNames: [], problems: new Set(), isSame: null }

const unreadable = (name: string, error: unknown): string => `${name} cannot be read: ${messageOf(error)}`

/** Reads the names of the keys in MongoDB. */
const namesInMongo = async (url: string, { streamPrefix: prefix }: Settings): Promise<Keys> => {
  const { connectMongo } = await import('../../../infrastructure/mongodb/connection.ts')
  const { mongoKeyNames } = await import('../../../infrastructure/mongodb/keyring.ts')
  const connection = await connectMongo(url, { prefix, limitMs: SERVER_LIMIT_MS })
  try {
    const { erased, kept } = await mongoKeyNames(connection)
    return { ...NO_KEYS, erasedKeys: erased, keyNames: [...erased, ...kept] }
  } finally {
    await connection.close()
  }
}

/** Reads the names in the keyring of the settings, also next to the service. No keyring yet: no names. */
export const presentNames = async (settings: Settings): Promise<Keys> => {
  if (settings.mongoUrl !== null) return await namesInMongo(settings.mongoUrl, settings)
  const file = join(settings.dataDir, KEYRING_FILE)
  if (!existsSync(file)) return NO_KEYS
  const { erased, kept } = readKeyNames(file, openForReading)
  return { ...NO_KEYS, erasedKeys: erased, keyNames: [...erased, ...kept] }
}

/** Reads the names in the present keyring, unless it is another service's, and in the copy. */
const namesInFiles = (present: string, copy: string): Keys => {
  const copied = readKeyNames(copy)
  const ofCopy = { ...NO_KEYS, keyNames: [...copied.erased, ...copied.kept] }
  if (!existsSync(present)) return ofCopy
  try {
    const { erased, kept, identity } = readKeyNames(present)
    if (identity !== copied.identity) return { ...ofCopy, isSame: false }
    return { ...NO_KEYS, isSame: true, erasedKeys: erased, keyNames: [...ofCopy.keyNames, ...erased, ...kept] }
  } catch (error) {
    return { ...ofCopy, problems: new Set([unreadable(KEYRING_FILE, error)]) }
  }
}

/** Reads the present log, unless it is another service's. */
const logIn = async (present: string, copy: string, status: Progress): Promise<Log> => {
  if (!existsSync(present)) return NO_LOG
  try {
    if (firstHash(present) !== firstHash(copy)) return { ...NO_LOG, isSame: false }
    const onEvents = (count: number): void => status.show('reading the replaced log', `${count} rows`)
    const { history, problems } = await readHistory(readReplacedLog(present), onEvents)
    return { log: history, problems, isSame: true }
  } catch (error) {
    return { ...NO_LOG, problems: new Set([unreadable(EVENTS_FILE, error)]) }
  }
}

/** A service has both files, so if only one of them is of another service, it has lost its identity. */
const lostIdentity = (keys: Keys, log: Log): ReadonlyArray<string> => [
  ...(log.isSame === true && keys.isSame === false
    ? [unreadable(KEYRING_FILE, 'its probe is missing or not that of the backup')]
    : []),
  ...(keys.isSame === true && log.isSame === false
    ? [unreadable(EVENTS_FILE, 'its first row is missing or not that of the backup')]
    : []),
]

/**
 * Reads what a restore replaces: the log and the keyring in the data directory, or the keyring in MongoDB. `copyOf`
 * returns the path of the file that will replace a file.
 */
export const readReplaced = async (
  settings: Settings, copyOf: (name: string) => string, status: Progress,
): Promise<ReplacedData> => {
  const { dataDir, eventstoreUrl, mongoUrl } = settings
  const filesOf = (name: string) => [join(dataDir, name), copyOf(name)] as const
  const keys = mongoUrl === null ? namesInFiles(...filesOf(KEYRING_FILE)) : await namesInMongo(mongoUrl, settings)
  // The tools of EventStoreDB have replaced its log already.
  const log = eventstoreUrl === null ? await logIn(...filesOf(EVENTS_FILE), status) : NO_LOG
  const problems = new Set([...keys.problems, ...log.problems, ...lostIdentity(keys, log)])
  return { erasedKeys: keys.erasedKeys, keyNames: keys.keyNames, log: log.log, problems }
}
