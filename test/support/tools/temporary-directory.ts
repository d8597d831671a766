import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A fresh directory of its own and the way to be rid of it. */
export const temporaryDirectory = async (): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> => {
  const path = await mkdtemp(join(tmpdir(), 'stenolog-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}
