import { mkdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as E from 'fp-ts/lib/Either.js'
import { isBusy } from './database.ts'
import { messageOf } from '../../domain/shared/message-of.ts'

/** Another process has the directory. */
export interface DataDirectoryInUse {
  readonly _tag: 'DataDirectoryInUse'
  readonly path: string
}

/** No directory can be made there, or nothing be written in it. */
export interface DataDirectoryUnusable {
  readonly _tag: 'DataDirectoryUnusable'
  readonly path: string
  readonly reason: string
}

const isDirectory = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * The directory and those above it that are missing. Not by Node's `recursive`, which never returns where the system
 * answers ENOENT although the directory above is there, as it does below /proc.
 */
const makeDirectory = (path: string): void => {
  if (isDirectory(path)) return
  if (dirname(path) !== path) makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster.
    if (!isDirectory(path)) throw error
  }
}

/** Locks in force. A connection that nothing refers to is closed by the garbage collector, and its lock ends with it. */
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
 * Makes the directory (0700) when there is none and takes it for this process, by an exclusive SQLite transaction
 * that is never committed: the operating system ends it with the process, whatever way that goes.
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
