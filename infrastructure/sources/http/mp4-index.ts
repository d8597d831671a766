import { SourceError } from '../source-error.ts'

/** The header of a box (ISO/IEC 14496-12, 4.2; MP4, M4A, MOV). A box has a length, a four-letter type and a body. */
export interface BoxHead {
  readonly type: string
  /** Size of the whole box, including the header; null: up to the end of the file. */
  readonly size: number | null
  readonly headerSize: number
}

/** Size of a header with a 64-bit length. */
export const LONG_HEADER_BYTES = 16

/** Returns the header at an offset; null: too few bytes, or an invalid length. */
export const boxHeadAt = (bytes: Buffer, at: number): BoxHead | null => {
  if (at + 8 > bytes.length) return null
  const short = bytes.readUInt32BE(at)
  const type = bytes.toString('latin1', at + 4, at + 8)
  if (short === 0) return { type, size: null, headerSize: 8 }
  const headerSize = short === 1 ? LONG_HEADER_BYTES : 8
  if (at + headerSize > bytes.length) return null
  const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short
  return size < headerSize || !Number.isSafeInteger(size) ? null : { type, size, headerSize }
}

/** Boxes that contain the tables of offsets (8.7.5). */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl'])
const ENTRY_SIZES: Readonly<Record<string, number>> = { stco: 4, co64: 8 }
/** Version, flags and number of entries. */
const TABLE_HEAD = 8

const moveTable = (body: Buffer, size: number, from: number, by: number): void => {
  const count = body.length < TABLE_HEAD ? 0 : body.readUInt32BE(4)
  if (TABLE_HEAD + count * size > body.length) throw new SourceError('no_index')
  for (let at = TABLE_HEAD; at < TABLE_HEAD + count * size; at += size) {
    const offset = size === 4 ? body.readUInt32BE(at) : Number(body.readBigUInt64BE(at))
    if (offset < from) continue
    const moved = offset + by
    // The new offset does not fit into a table of 32-bit offsets.
    if (moved > (size === 4 ? 2 ** 32 - 1 : Number.MAX_SAFE_INTEGER)) throw new SourceError('no_index')
    if (size === 4) body.writeUInt32BE(moved, at)
    else body.writeBigUInt64BE(BigInt(moved), at)
  }
}

const moveBoxes = (bytes: Buffer, from: number, by: number): void => {
  for (let at = 0; at < bytes.length; ) {
    const head = boxHeadAt(bytes, at)
    // The rest is padding.
    if (head === null) return
    const end = head.size === null ? bytes.length : at + head.size
    if (end > bytes.length) throw new SourceError('no_index')
    const body = bytes.subarray(at + head.headerSize, end)
    // A compressed index cannot be adjusted.
    if (head.type === 'cmov') throw new SourceError('no_index')
    const entry = ENTRY_SIZES[head.type]
    if (entry !== undefined) moveTable(body, entry, from, by)
    else if (CONTAINERS.has(head.type)) moveBoxes(body, from, by)
    at = end
  }
}

/**
 * Returns a copy of a `moov` box for a file in which all bytes from `from` on are moved by `by` bytes. Throws
 * `no_index` if the offsets cannot be adjusted.
 */
export const movedIndex = (moov: Buffer, from: number, by: number): Buffer => {
  const copy = Buffer.from(moov)
  moveBoxes(copy, from, by)
  return copy
}
