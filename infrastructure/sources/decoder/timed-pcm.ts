/** Samples (s16le 16 kHz mono) and the media time of the first sample in seconds; null: unknown. */
export interface TimedPcm {
  readonly pcm: Buffer
  readonly time: number | null
}

const TIME_BYTES = 8
/** The time and the length. */
const HEAD_BYTES = TIME_BYTES + 4
/** More than a decoder makes from one packet, and less than the largest frame of the puller. */
const MAX_PIECE_BYTES = 512 * 1024
const BYTES_PER_SECOND = 32_000
/** Pieces whose timestamps differ by less than this are merged, in seconds. */
const MERGE_TOLERANCE_SECONDS = 0.005

/** Encodes the time, then the samples. */
export const timedPcmOf = ({ pcm, time }: TimedPcm): Buffer => {
  const head = Buffer.alloc(TIME_BYTES)
  head.writeDoubleLE(time ?? NaN)
  return Buffer.concat([head, pcm])
}

export const readTimedPcm = (bytes: Buffer): TimedPcm => {
  const time = bytes.readDoubleLE(0)
  return { pcm: bytes.subarray(TIME_BYTES), time: Number.isFinite(time) ? time : null }
}

/** Encodes time, length and samples, for a stream of pieces. */
export const pieceOf = ({ pcm, time }: TimedPcm): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeDoubleLE(time ?? NaN)
  head.writeUInt32LE(pcm.length, TIME_BYTES)
  return Buffer.concat([head, pcm])
}

/** Merges consecutive pieces, because each piece has a fixed cost for its readers. */
const merged = (pieces: ReadonlyArray<TimedPcm>): ReadonlyArray<TimedPcm> => {
  const groups: Array<{ readonly time: number | null; readonly parts: Array<Buffer>; length: number }> = []
  for (const { pcm, time } of pieces) {
    const last = groups.at(-1)
    const end = last === undefined || last.time === null ? null : last.time + last.length / BYTES_PER_SECOND
    const fits = last !== undefined && last.length + pcm.length <= MAX_PIECE_BYTES
    const follows = time === null || (end !== null && Math.abs(time - end) < MERGE_TOLERANCE_SECONDS)
    if (!fits || !follows) groups.push({ time, parts: [pcm], length: pcm.length })
    else {
      last.parts.push(pcm)
      last.length += pcm.length
    }
  }
  return groups.map(({ time, parts }) => ({ time, pcm: Buffer.concat(parts) }))
}

/** Creates a parser for a stream of pieces, in chunks of any size. It throws an Error on invalid input. */
export const createPieceReader = (): ((bytes: Buffer) => ReadonlyArray<TimedPcm>) => {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    const pieces: Array<TimedPcm> = []
    let at = 0
    while (at + HEAD_BYTES <= rest.length) {
      const length = rest.readUInt32LE(at + TIME_BYTES)
      if (length > MAX_PIECE_BYTES || length % 2 !== 0) throw new Error('the decoder wrote an invalid audio piece')
      const end = at + HEAD_BYTES + length
      if (end > rest.length) break
      const { time } = readTimedPcm(rest.subarray(at, at + TIME_BYTES))
      pieces.push({ time, pcm: rest.subarray(at + HEAD_BYTES, end) })
      at = end
    }
    rest = rest.subarray(at)
    return merged(pieces)
  }
}
