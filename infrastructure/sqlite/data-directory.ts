import { mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as E from 'fp-ts/lib/Either.js'
import { messageOf } from '../../domain/shared/message-of.ts'
import { BUSY_TIMEOUT_MS, isBusy } from './database.ts'

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

const LOCK_FILE = 'lock.db'

/** The held locks. The garbage collector closes an unreferenced connection, which would end its lock. */
const held = new Set<DatabaseSync>()

const takeLock = (path: string, waitMs: number): E.Either<DataDirectoryInUse, { readonly release: () => void }> => {
  const lock = new DatabaseSync(join(path, LOCK_FILE), { timeout: waitMs })
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
 * transaction without a commit, so it always ends with the process, also after a crash. Waits for a lock
 * that another process holds only for a moment: two processes that lock at the same time would refuse each other.
 */
export const acquireDataDirectory = (
  path: string,
  waitMs = BUSY_TIMEOUT_MS,
): E.Either<DataDirectoryInUse | DataDirectoryUnusable, { readonly release: () => void }> => {
  try {
    makeDirectory(resolve(path))
    return takeLock(path, waitMs)
  } catch (error) {
    return E.left({ _tag: 'DataDirectoryUnusable', path, reason: messageOf(error) })
  }
}

/**
 * Whether another process has locked the directory; null when the user of this process cannot tell. Creates no file,
 * and keeps no process from taking the lock.
 */
export const isDataDirectoryInUse = (path: string): boolean | null => {
  const file = join(path, LOCK_FILE)
  try {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return false
    using lock = new DatabaseSync(file, { readOnly: true, timeout: 0 })
    lock.prepare('SELECT 1 FROM sqlite_master').get()
    return false
  } catch (error) {
    return isBusy(error) ? true : null
  }
}
