import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
/** What makes documents of events: the projections, and the domain whose events they fold. */
const FOLDERS = ['domain', 'projections']

/** Names the code of this version that folds events into documents; any change of it gives another name. */
export const foldingCode = async (): Promise<string> => {
  const hash = createHash('sha256')
  for (const folder of FOLDERS) {
    const names = await readdir(join(ROOT, folder), { recursive: true })
    for (const name of names.filter((one) => one.endsWith('.ts')).toSorted())
      hash.update(`${folder}/${name}\n`).update(await readFile(join(ROOT, folder, name)))
  }
  return hash.digest('hex').slice(0, 32)
}
