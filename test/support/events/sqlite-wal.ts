/** The write-ahead file of SQLite, as far as cuts through it need to know: https://www.sqlite.org/fileformat2.html#walformat */

/** Bytes. */
export const WAL_HEADER = 32
const FRAME_HEADER = 24

/** The frames of a file, in order: where each ends, in bytes, and whether it commits. */
export const walFrames = (wal: Buffer): ReadonlyArray<{ readonly end: number; readonly commits: boolean }> => {
  const frame = FRAME_HEADER + wal.readUInt32BE(8)
  return Array.from({ length: Math.floor((wal.length - WAL_HEADER) / frame) }, (_, n) => {
    const begin = WAL_HEADER + n * frame
    return { end: begin + frame, commits: wal.readUInt32BE(begin + 4) !== 0 }
  })
}
