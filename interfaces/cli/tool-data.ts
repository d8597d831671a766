import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../application/ports/documents.ts'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Keyring } from '../../application/ports/keyring.ts'
import { acquireDataDirectory } from '../../infrastructure/data-directory.ts'
import { loadMasterKey } from '../../infrastructure/master-key.ts'
import { readSettings } from '../../infrastructure/settings.ts'
import type { Settings } from '../../infrastructure/settings.ts'
import { openSqliteDocumentsReader } from '../../infrastructure/sqlite/documents.ts'
import { openSqliteEventReader } from '../../infrastructure/sqlite/event-reader.ts'
import { openSqliteKeyringReader } from '../../infrastructure/sqlite/keyring.ts'
import { DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE, masterKeyPath } from '../compose/stores.ts'

/** The service's settings as this process sees them; throws an Error that lists everything wrong with them. */
export const toolSettings = (): Settings => {
  const settings = readSettings(process.env)
  if (E.isRight(settings)) return settings.right
  throw new Error(`wrong settings:\n${settings.left.map((problem) => `  ${problem}`).join('\n')}`)
}

export interface DataFiles {
  readonly events: string
  readonly documents: string
  readonly keyring: string
  readonly masterKey: string
}

/** Where the embedded stores lie; throws an Error for people where there are none. */
export const dataFiles = (settings: Settings): DataFiles => {
  const file = (name: string): string => join(settings.dataDir, name)
  const files = { events: file(EVENTS_FILE), documents: file(DOCUMENTS_FILE), keyring: file(KEYRING_FILE) }
  const missing = Object.values(files).filter((path) => !existsSync(path))
  if (missing.length > 0) throw new Error(`there is no data of a service in ${settings.dataDir}: ${missing.join(', ')} missing (STENOLOG_DATA_DIR says where it is)`)
  return { ...files, masterKey: masterKeyPath(settings) }
}

/** Whether another process holds the data directory. */
export const isServiceRunning = (dataDir: string): boolean => {
  const lock = acquireDataDirectory(dataDir)
  if (E.isRight(lock)) lock.right.release()
  return E.isLeft(lock) && lock.left._tag === 'DataDirectoryInUse'
}

/** The stores, for reading: beside a running service or without one. */
export interface ToolData {
  readonly store: Pick<EventStore, 'read' | 'subscribe' | 'head'>
  readonly documents: Pick<Documents, 'checkpoint' | 'get' | 'scan'>
  readonly keyring: Pick<Keyring, 'open'>
}

/** Runs with the data of this process's settings and closes them; throws an Error for people where they cannot be read. */
export const withData = async <A>(settings: Settings, run: (data: ToolData, files: DataFiles) => Promise<A>): Promise<A> => {
  const files = dataFiles(settings)
  const masterKey = await loadMasterKey(files.masterKey)
  const store = openSqliteEventReader({ file: files.events })
  const documents = openSqliteDocumentsReader({ file: files.documents })
  try {
    const keyring = await openSqliteKeyringReader({ file: files.keyring, masterKey })
    try {
      return await run({ store, documents, keyring }, files)
    } finally {
      await keyring.close()
    }
  } finally {
    await Promise.all([store.close(), documents.close()])
  }
}

/** The id that a command was given; throws an Error for people. */
export const liveIdOf = (command: string, positionals: ReadonlyArray<string>): number => {
  const [text = '', ...more] = positionals
  if (more.length > 0 || !/^[1-9]\d{0,14}$/.test(text)) throw new Error(`${command} needs the id of one live`)
  return Number(text)
}
