import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDERS = ['domain', 'projections']

/** Returns a hash of the code that folds events into documents, to detect read models of an older code version. */
export const foldingCode = async (): Promise<string> => {
  const hash = createHash('sha256')
  for (const folder of FOLDERS) {
    const names = await readdir(join(ROOT, folder), { recursive: true })
    for (const name of names.filter((name) => name.endsWith('.ts')).toSorted())
      hash.update(`${folder}/${name}\n`).update(await readFile(join(ROOT, folder, name)))
  }
  return hash.digest('hex').slice(0, 32)
}
