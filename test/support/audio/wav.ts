import { readFileSync } from 'node:fs'

const HEADER = 44

/** Reads the samples of a WAV file: 16 kHz, mono, s16le, with a header of 44 bytes. */
export const readWav = (path: string): Int16Array => {
  const bytes = readFileSync(path)
  return new Int16Array(Uint8Array.from(bytes.subarray(HEADER)).buffer)
}

/** Writes samples as a WAV file: mono, s16le, with a header of 44 bytes. */
export const wavOf = (samples: Int16Array, rate: number): Buffer => {
  const header = Buffer.alloc(HEADER)
  header.write('RIFF', 0)
  header.writeUInt32LE(HEADER - 8 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return Buffer.concat([header, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)])
}
