import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sync } from './sync.ts'

/** File in the data directory. */
const NODE_NAME_FILE = 'node-name'

const GENERATED_NAME = /^node-[0-9a-f]{16}$/

const readOrNull = async (file: string): Promise<string | null> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Returns the unique name of a data directory (`node-` and 16 hexadecimal digits), and creates it on the first call.
 * The caller must hold the lock of the directory. Throws an Error when the file contains anything else: under a new
 * name this process would not recognise its own data.
 */
export const loadOrCreateNodeName = async (dataDir: string): Promise<string> => {
  const file = join(dataDir, NODE_NAME_FILE)
  const kept = (await readOrNull(file))?.trim()
  if (kept !== undefined) {
    if (GENERATED_NAME.test(kept)) return kept
    throw new Error(`${file} does not contain a generated node name: restore the file, or delete it to get a new name`)
  }
  const generated = `node-${randomBytes(8).toString('hex')}`
  await writeFile(`${file}.new`, `${generated}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  if (process.platform !== 'win32') await sync(dataDir)
  return generated
}
