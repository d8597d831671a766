import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sync } from '../../../infrastructure/files/sync.ts'
import { ERASURES_FILE, namesToErase } from '../repeat-erasures.ts'

/** Reads which users and sessions the service of this directory still has to delete again. */
export const pendingDeletions = async (directory: string): Promise<ReadonlyArray<string>> => {
  const file = join(directory, ERASURES_FILE)
  return existsSync(file) ? namesToErase(file, await readFile(file, 'utf8')) : []
}

/** Writes which users and sessions the next start deletes again. */
export const writeDeletions = async (directory: string, names: ReadonlyArray<string>): Promise<void> => {
  const file = join(directory, ERASURES_FILE)
  await writeFile(`${file}.new`, JSON.stringify(names), { mode: 0o600 })
  await sync(`${file}.new`, 'r+')
  await rename(`${file}.new`, file)
}

/** Returns the names of the keys of a user or a session. */
export const keysOf = (name: string): ReadonlyArray<string> =>
  name.startsWith('live-') ? [name, name.replace('live-', 'text-')] : [name]
