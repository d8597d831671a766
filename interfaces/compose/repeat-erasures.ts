import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { isUnreadable } from '../../application/errors.ts'
import type { Unavailable } from '../../application/errors.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'

/** A restore writes this file: a JSON array with the names of the keys that were erased after the backup. */
export const ERASURES_FILE = 'erase-again.json'

/** Reads the names in such a file. Throws an Error that names the file when it is damaged. */
export const namesToErase = (file: string, text: string): ReadonlyArray<string> => {
  try {
    return decodeOrThrow(t.readonlyArray(t.string), JSON.parse(text))
  } catch {
    throw new Error(`${file} is cut off or changed: it lists what was deleted after the backup`)
  }
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
  const file = join(dataDir, ERASURES_FILE)
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return
  await whenReadModelsAreComplete()
  const undeletedNames: Array<string> = []
  for (const name of namesToErase(file, text)) {
    const [, kind, id] = /^(user|live)-(\d+)$/.exec(name) ?? []
    if (kind === undefined) continue
    const done = await (kind === 'user' ? deleteUserAgain : deleteLiveAgain)(Number(id))
    if (E.isRight(done)) continue
    const { left } = done
    if (!isUnreadable(left))
      throw new Error(`${name} was deleted after the backup, but its restored copy could not be deleted: ${left._tag}`)
    undeletedNames.push(name)
  }
  if (undeletedNames.length === 0) return await rm(file, { force: true })
  await writeFile(`${file}.new`, JSON.stringify(undeletedNames), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
