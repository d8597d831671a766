import { decode, type DecodeOptions } from '../../../infrastructure/sources/decoder/decode.ts'
import type { TimedPcm } from '../../../infrastructure/sources/decoder/timed-pcm.ts'

/** Reads bytes from memory in pieces of the wanted size. `read()`: the number of bytes that were taken. */
export const readerOf = (bytes: Buffer) => {
  let at = 0
  return {
    taken: () => at,
    read: async (size: number): Promise<Buffer | null> => {
      const piece = bytes.subarray(at, at + size)
      at += piece.length
      return piece.length === 0 ? null : piece
    },
  }
}

/** Decodes bytes in this process. Returns all that the decoder reported. */
export const decoded = async (bytes: Buffer, options: Partial<DecodeOptions> = {}) => {
  const { read, taken } = readerOf(bytes)
  const pieces: Array<TimedPcm> = []
  const damages: Array<number> = []
  const formats: Array<string> = []
  const failure = await decode({
    input: { read, stream: false },
    write: async (audio) => void pieces.push(audio),
    opened: (format) => formats.push(format),
    damaged: (seconds) => damages.push(seconds),
    ...options,
  }).then(() => null, (error: unknown) => error)
  const pcm = Buffer.concat(pieces.map((piece) => piece.pcm))
  const samples = new Int16Array(Uint8Array.from(pcm).buffer)
  return { pieces, samples, damages, formats, failure, taken: taken() }
}
