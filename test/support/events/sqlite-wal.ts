/** Reads the write-ahead log of SQLite, for tests that cut it: https://www.sqlite.org/fileformat2.html#walformat */

/** Bytes. */
export const WAL_HEADER = 32
/** Bytes. */
const FRAME_HEADER = 24

interface WalFrame {
  /** Offset of its end in the file, in bytes. */
  readonly end: number
  /** Whether it is the last frame of a transaction. */
  readonly commits: boolean
}

/** Returns the frames of a write-ahead log in order. */
export const walFrames = (wal: Buffer): ReadonlyArray<WalFrame> => {
  const frame = FRAME_HEADER + wal.readUInt32BE(8)
  return Array.from({ length: Math.floor((wal.length - WAL_HEADER) / frame) }, (_, n) => {
    const begin = WAL_HEADER + n * frame
    return { end: begin + frame, commits: wal.readUInt32BE(begin + 4) !== 0 }
  })
}
