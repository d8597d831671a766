import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface TemporaryDirectory {
  readonly path: string
  /** Deletes the directory with its contents. */
  readonly remove: () => Promise<void>
}

/** Creates an empty directory. */
export const temporaryDirectory = async (): Promise<TemporaryDirectory> => {
  const path = await mkdtemp(join(tmpdir(), 'stenolog-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
