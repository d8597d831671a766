/** Samples (s16le 16 kHz mono), and when the first is to be heard, in seconds of the media's clock, null for none. */
export interface TimedPcm {
  readonly pcm: Buffer
  readonly time: number | null
}

/** Eight bytes of time. */
const TIME = 8
/** Time, and four bytes of length. */
const HEAD = TIME + 4
/** More than any decoder makes of one packet; fewer than a frame of the puller's holds. */
const MAX_PIECE = 512 * 1024
const BYTES_A_SECOND = 32_000
/** Seconds by which a piece may be off that is told as one with the piece before it. */
const SAME = 0.005

/** The time, then the samples. */
export const timedPcmOf = ({ pcm, time }: TimedPcm): Buffer => {
  const head = Buffer.alloc(TIME)
  head.writeDoubleLE(time ?? NaN)
  return Buffer.concat([head, pcm])
}

export const readTimedPcm = (bytes: Buffer): TimedPcm => {
  const time = bytes.readDoubleLE(0)
  return { pcm: bytes.subarray(TIME), time: Number.isFinite(time) ? time : null }
}

/** The same for a stream of them: time, length, samples. */
export const pieceOf = ({ pcm, time }: TimedPcm): Buffer => {
  const head = Buffer.alloc(HEAD)
  head.writeDoubleLE(time ?? NaN)
  head.writeUInt32LE(pcm.length, TIME)
  return Buffer.concat([head, pcm])
}

/** Pieces that follow one another as one: nothing is lost by that, and each costs its readers as much as many. */
const joined = (pieces: ReadonlyArray<TimedPcm>): ReadonlyArray<TimedPcm> => {
  const groups: Array<{ readonly time: number | null; readonly parts: Array<Buffer>; length: number }> = []
  for (const { pcm, time } of pieces) {
    const last = groups.at(-1)
    const follows = last !== undefined && last.length + pcm.length <= MAX_PIECE &&
      (time === null || (last.time !== null && Math.abs(time - last.time - last.length / BYTES_A_SECOND) < SAME))
    if (!follows) groups.push({ time, parts: [pcm], length: pcm.length })
    else {
      last.parts.push(pcm)
      last.length += pcm.length
    }
  }
  return groups.map(({ time, parts }) => ({ time, pcm: Buffer.concat(parts) }))
}

/** Takes such a stream apart, in bytes of any number; throws an Error for what no decoder of ours writes. */
export const createPieceReader = (): ((bytes: Buffer) => ReadonlyArray<TimedPcm>) => {
  let rest: Buffer = Buffer.alloc(0)
  return (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
    const pieces: Array<TimedPcm> = []
    let at = 0
    while (at + HEAD <= rest.length) {
      const length = rest.readUInt32LE(at + TIME)
      if (length > MAX_PIECE || length % 2 !== 0) throw new Error('what a decoder wrote is no audio')
      if (at + HEAD + length > rest.length) break
      const { time } = readTimedPcm(rest.subarray(at, at + TIME))
      pieces.push({ time, pcm: rest.subarray(at + HEAD, at + HEAD + length) })
      at += HEAD + length
    }
    rest = rest.subarray(at)
    return joined(pieces)
  }
}
