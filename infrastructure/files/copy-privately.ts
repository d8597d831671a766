import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'

/**
 * Copies a file to a new file that only its owner can read. The function `copyFile` of Node keeps the mode of the
 * original instead, and a copy from a medium without modes is readable for everyone.
 */
export const copyPrivately = (file: string, target: string): Promise<void> => {
  const highWaterMark = 1 << 20
  return pipeline(
    createReadStream(file, { highWaterMark }),
    createWriteStream(target, { highWaterMark, flags: 'wx', mode: 0o600 }),
  )
}
