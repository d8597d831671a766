import { mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../domain/shared/message-of.ts'
import { isBusy } from './database.ts'

/** Another process has locked the directory. */
export interface DataDirectoryInUse {
  readonly _tag: 'DataDirectoryInUse'
  readonly path: string
}

/** The directory cannot be created or written. */
export interface DataDirectoryUnusable {
  readonly _tag: 'DataDirectoryUnusable'
  readonly path: string
  readonly reason: string
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Creates a directory and its missing parents. Does not use Node's `recursive`: below /proc, for example, the system
 * answers ENOENT although the parent exists, and then `recursive` never returns.
 */
const makeDirectory = (path: string): void => {
  if (isDirectory(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isDirectory(path)) throw error
  }
}

/** The held locks. The garbage collector closes an unreferenced connection, which would end its lock. */
const held = new Set<DatabaseSync>()

const takeLock = (path: string): E.Either<DataDirectoryInUse, { readonly release: () => void }> => {
  const lock = new DatabaseSync(join(path, 'lock.db'), { timeout: 0 })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return E.left({ _tag: 'DataDirectoryInUse', path })
    throw error
  }
  held.add(lock)
  const release = (): void => {
    held.delete(lock)
    lock.close()
  }
  return E.right({ release })
}

/**
 * Creates the directory (0700) if it is missing, and locks it for this process. The lock is an exclusive SQLite
 * transaction without a commit, so it always ends with the process, also after a crash.
 */
export const acquireDataDirectory = (
  path: string,
): E.Either<DataDirectoryInUse | DataDirectoryUnusable, { readonly release: () => void }> => {
  try {
    makeDirectory(resolve(path))
    return takeLock(path)
  } catch (error) {
    return E.left({ _tag: 'DataDirectoryUnusable', path, reason: messageOf(error) })
  }
}
