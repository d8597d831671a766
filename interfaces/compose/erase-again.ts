import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { isHurt } from '../../application/errors.ts'
import type { Unavailable } from '../../application/errors.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'

/** Written by a restore: names of the keys that were erased since its backup was made, as JSON. */
export const ERASE_AGAIN_FILE = 'erase-again.json'

interface EraseAgainDeps {
  /** Resolves once the lists show what users have. */
  readonly whenListed: () => Promise<void>
  readonly deleteUserAgain: (userId: number) => Promise<Either<Unavailable, void>>
  readonly deleteLiveAgain: (liveId: number) => Promise<Either<Unavailable, unknown>>
}

/**
 * Deletes again the users and lives that an older copy of the log shows although their keys were erased. Throws an Error
 * when a store is away: a service that shows them must not say ready. What cannot be read is left to the next start.
 */
export const eraseAgain = async (dataDir: string, { whenListed, deleteUserAgain, deleteLiveAgain }: EraseAgainDeps): Promise<void> => {
  const file = join(dataDir, ERASE_AGAIN_FILE)
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return
  await whenListed()
  const left: Array<string> = []
  for (const name of decodeOrThrow(t.readonlyArray(t.string), JSON.parse(text))) {
    const [, kind, id] = /^(user|live)-(\d+)$/.exec(name) ?? []
    if (kind === undefined) continue
    const done = await (kind === 'user' ? deleteUserAgain : deleteLiveAgain)(Number(id))
    if (E.isRight(done)) continue
    if (!isHurt(done.left)) throw new Error(`${name} was erased and could not be deleted again: ${done.left._tag}`)
    left.push(name)
  }
  if (left.length === 0) return await rm(file, { force: true })
  await writeFile(`${file}.new`, JSON.stringify(left), { mode: 0o600 })
  await rename(`${file}.new`, file)
}
