import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../../infrastructure/settings/settings.ts'
import { CommandError } from '../command-error.ts'
import { DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE, masterKeyPath, unfinishedRestore } from '../compose/stores.ts'

/** Paths of the embedded databases and of the master key. */
export interface DataFiles {
  readonly events: string
  readonly documents: string
  readonly keyring: string
  readonly masterKey: string
}

/**
 * Returns the paths of the embedded databases. Throws an Error when a database that the settings need is missing, or
 * when an interrupted restore left databases that do not belong together.
 */
export const dataFiles = (settings: Settings): DataFiles => {
  const unfinished = unfinishedRestore(settings.dataDir)
  if (unfinished !== null) throw new Error(unfinished)
  const file = (name: string): string => join(settings.dataDir, name)
  const files = { events: file(EVENTS_FILE), documents: file(DOCUMENTS_FILE), keyring: file(KEYRING_FILE) }
  const missing = embeddedFiles(settings, files).filter((path) => !existsSync(path))
  if (missing.length > 0)
    throw new CommandError(`There is no data of a service in ${settings.dataDir}. Missing: ${missing.join(', ')}.`, {
      hint: 'Set the data directory: export STENOLOG_DATA_DIR=/path/to/data',
    })
  return { ...files, masterKey: masterKeyPath(settings) }
}

/** Returns the paths of the embedded databases that the service uses. A store on a server has no embedded database. */
export const embeddedFiles = (
  { eventstoreUrl, mongoUrl }: Pick<Settings, 'eventstoreUrl' | 'mongoUrl'>,
  { events, documents, keyring }: Omit<DataFiles, 'masterKey'>,
): ReadonlyArray<string> => [
  ...(eventstoreUrl === null ? [events] : []),
  ...(mongoUrl === null ? [documents, keyring] : []),
]
