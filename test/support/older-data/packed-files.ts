import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'

const SUFFIX = '.br'
const BEST = { params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS } }

/** Compresses files one by one, as the repository stores them. */
export const packFiles = async (from: string, names: ReadonlyArray<string>, to: string): Promise<void> => {
  await mkdir(to, { recursive: true })
  for (const name of names)
    await writeFile(join(to, name + SUFFIX), brotliCompressSync(await readFile(join(from, name)), BEST))
}

/** Restores packed files. */
export const unpackFiles = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const packed of await readdir(from)) {
    if (!packed.endsWith(SUFFIX)) continue
    const whole = brotliDecompressSync(await readFile(join(from, packed)))
    await writeFile(join(to, packed.slice(0, -SUFFIX.length)), whole, { mode: 0o600 })
  }
}
