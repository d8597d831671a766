import { readFileSync } from 'node:fs'

const HEADER = 44

/** The samples of a fixture: a WAV file of 16 kHz mono s16le with the plain header. */
export const readWav = (path: string): Int16Array => {
  const bytes = readFileSync(path)
  return new Int16Array(Uint8Array.from(bytes.subarray(HEADER)).buffer)
}
