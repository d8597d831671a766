import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sync } from './sync.ts'

/** In the data directory: what others know it by. */
const NODE_NAME_FILE = 'node-name'

const MADE = /^node-[0-9a-f]{16}$/

const readOrNull = async (file: string): Promise<string | null> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * The name that no other data directory has, made once and kept there (`node-` and 16 hexadecimal digits). Whoever asks
 * must hold the directory. Throws an Error for people where the file holds something else: another name would make
 * this process a stranger to what it wrote.
 */
export const loadOrCreateNodeName = async (dataDir: string): Promise<string> => {
  const file = join(dataDir, NODE_NAME_FILE)
  const kept = (await readOrNull(file))?.trim()
  if (kept !== undefined) {
    if (MADE.test(kept)) return kept
    throw new Error(`${file} holds no name that this service has made: restore it, or delete it to be another node`)
  }
  const made = `node-${randomBytes(8).toString('hex')}`
  await writeFile(`${file}.new`, `${made}\n`, { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
  if (process.platform !== 'win32') await sync(dataDir)
  return made
}
