import { open } from 'node:fs/promises'

/**
 * Makes what a file holds, or which files a directory names, survive a power cut. A file must be open for writing where
 * the system syncs no other (Windows): `r+`.
 */
export const sync = async (path: string, flags: 'r' | 'r+' = 'r'): Promise<void> => {
  const handle = await open(path, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
