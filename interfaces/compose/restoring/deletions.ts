import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { subjectOf } from '../../../domain/key-subject.ts'
import { textKey } from '../../../domain/live/events.ts'
import { sync } from '../../../infrastructure/files/sync.ts'

/** A JSON array with the names of the users and sessions that were deleted after the backup. A restore writes it. */
export const DELETIONS_FILE = 'erase-again.json'

/**
 * Reads which users and sessions the service of this directory still has to delete again. Throws an Error that names
 * the file when it is damaged.
 */
export const pendingDeletions = async (directory: string): Promise<ReadonlyArray<string>> => {
  const file = join(directory, DELETIONS_FILE)
  if (!existsSync(file)) return []
  const text = await readFile(file, 'utf8')
  try {
    return decodeOrThrow(t.readonlyArray(t.string), JSON.parse(text))
  } catch {
    throw new Error(`${file} is cut off or changed: it lists what was deleted after the backup`)
  }
}

/** Writes which users and sessions the next start deletes again. */
export const writeDeletions = async (directory: string, names: ReadonlyArray<string>): Promise<void> => {
  const file = join(directory, DELETIONS_FILE)
  await writeFile(`${file}.new`, JSON.stringify(names), { mode: 0o600 })
  await sync(`${file}.new`, 'r+')
  await rename(`${file}.new`, file)
}

/** Returns the names of the keys of a user or a session. */
export const keysOf = (name: string): ReadonlyArray<string> => {
  const subject = subjectOf(name)
  return subject?.key === 'live' ? [name, textKey(subject.id)] : [name]
}
