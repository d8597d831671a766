import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that only the user of this process may enter. */
export interface EmptyDirectory {
  readonly path: string
  /** Deletes the directory and all that it contains. Never throws. */
  readonly remove: () => void
}

/**
 * Creates an empty directory for temporary files of the system. A child process that runs there finds no file of ours
 * under a relative path. Throws if the system has no place for it.
 */
export const createEmptyDirectory = (): EmptyDirectory => {
  const path = mkdtempSync(join(tmpdir(), 'stenolog-engine-'))
  const remove = (): void => {
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // The system deletes temporary files too.
    }
  }
  return { path, remove }
}
