import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { provesAbsence } from '../../../infrastructure/files/path-exists.ts'
import type { Settings } from '../../../infrastructure/settings/settings.ts'
import { DOCUMENTS_FILE, EVENTS_FILE, KEYRING_FILE, masterKeyPath } from '../../compose/stores.ts'
import type { Check } from './check.ts'

const OTHERS = 0o077

const DATABASES = [EVENTS_FILE, DOCUMENTS_FILE, KEYRING_FILE]

/** Handles an error: what does not exist counts as `value`. */
const orIfMissing = <A>(value: A) => (error: NodeJS.ErrnoException): A => {
  if (provesAbsence(error)) return value
  throw error
}

/** Whether users other than the owner may do anything with this file or folder. False when it does not exist. */
const isOpen = (path: string): Promise<boolean> =>
  stat(path).then(({ mode }) => (mode & OTHERS) !== 0, orIfMissing(false))

const openOnes = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const found = await Promise.all(paths.map(async (path) => ((await isOpen(path)) ? [path] : [])))
  return found.flat()
}

type Places = Pick<Settings, 'dataDir' | 'masterKeyFile'>

const examineModes = async (settings: Places): Promise<Check> => {
  const { dataDir } = settings
  const names = await readdir(dataDir).catch(orIfMissing<ReadonlyArray<string>>([]))
  const databases = names.filter((name) => DATABASES.some((database) => name.startsWith(database)))
  const files = await openOnes([...databases.map((name) => join(dataDir, name)), masterKeyPath(settings)])
  const folders = await openOnes([dataDir])
  const commands = [
    ...(folders.length > 0 ? [`chmod 700 ${folders.join(' ')}`] : []),
    ...(files.length > 0 ? [`chmod 600 ${files.join(' ')}`] : []),
  ]
  return commands.length === 0
    ? { name: 'permissions', ok: true, detail: 'no other user can read the data and the master key' }
    : { name: 'permissions', ok: false, detail: `other users can use the data: ${commands.join(' && ')}` }
}

/** Checks that only the owner can use the data directory, the databases with their SQLite files, and the master key. */
export const modeCheck = (settings: Places): Promise<Check> =>
  examineModes(settings).catch((error: unknown) =>
    ({ name: 'permissions', ok: null, detail: `cannot tell who can read the data: ${messageOf(error)}` }))
