import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { isUnreadable, type Unavailable } from '../../../application/refusals.ts'
import { subjectOf } from '../../../domain/key-subject.ts'
import { textKey } from '../../../domain/live/events.ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
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

interface RepeatErasuresDeps {
  /** Resolves when the read models contain the whole log. */
  readonly whenReadModelsAreComplete: () => Promise<void>
  readonly deleteUserAgain: (userId: number) => Promise<Either<Unavailable, void>>
  readonly deleteLiveAgain: (liveId: number) => Promise<Either<Unavailable, unknown>>
}

/**
 * Deletes users and sessions again after a restore, if their keys were erased after the backup. Throws if a store is
 * unavailable, because a service that shows deleted data must not start. If a stream is damaged, its name stays in the
 * file, so the next start tries again.
 */
export const repeatErasures = async (dataDir: string, deps: RepeatErasuresDeps): Promise<void> => {
  const { whenReadModelsAreComplete, deleteUserAgain, deleteLiveAgain } = deps
  const names = await pendingDeletions(dataDir)
  if (names.length > 0) await whenReadModelsAreComplete()
  const undeleted: Array<string> = []
  for (const name of names) {
    const subject = subjectOf(name)
    // Lists of older versions also name forgotten texts, whose sessions still exist.
    if (subject === null || subject.key === 'text') continue
    const done = await (subject.kind === 'user' ? deleteUserAgain : deleteLiveAgain)(subject.id)
    if (E.isRight(done)) continue
    const { left } = done
    if (!isUnreadable(left))
      throw new Error(`${name} was deleted after the backup, but its restored copy could not be deleted: ${left._tag}`)
    undeleted.push(name)
  }
  if (undeleted.length > 0) await writeDeletions(dataDir, undeleted)
  else await rm(join(dataDir, DELETIONS_FILE), { force: true })
}
