import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { isUnreadable } from '../../application/errors.ts'
import type { Unavailable } from '../../application/errors.ts'
import { subjectOf } from '../../domain/key-subject.ts'
import { DELETIONS_FILE, pendingDeletions, writeDeletions } from './restoring/deletions.ts'

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
