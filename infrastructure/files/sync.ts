import { open } from 'node:fs/promises'

/**
 * Writes a file's content, or a directory's list of names, to the disk, so it survives a power cut. Use `r+` for files
 * on Windows, which syncs only files that are open for writing.
 */
export const sync = async (path: string, flags: 'r' | 'r+' = 'r'): Promise<void> => {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
