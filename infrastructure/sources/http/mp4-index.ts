import { SourceError } from '../source-error.ts'

/** Boxes of ISO/IEC 14496-12, 4.2 (MP4, M4A, MOV): a length, four letters, a body. */
export interface BoxHead {
  readonly type: string
  /** Of the whole box, header included; null: to the end of the file. */
  readonly size: number | null
  readonly headerSize: number
}

/** Of a header with a 64-bit length. */
export const LONGEST_HEAD = 16

/** The header at an offset; null where there is none: too few bytes, or a length that no box can have. */
export const boxHeadAt = (bytes: Buffer, at: number): BoxHead | null => {
  if (at + 8 > bytes.length) return null
  const short = bytes.readUInt32BE(at)
  const type = bytes.toString('latin1', at + 4, at + 8)
  if (short === 0) return { type, size: null, headerSize: 8 }
  const headerSize = short === 1 ? LONGEST_HEAD : 8
  if (at + headerSize > bytes.length) return null
  const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short
  return size < headerSize || !Number.isSafeInteger(size) ? null : { type, size, headerSize }
}

/** The boxes that lead to tables of offsets (8.7.5). */
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
    // A table of 32 bits that no longer reaches what it names.
    if (moved > (size === 4 ? 2 ** 32 - 1 : Number.MAX_SAFE_INTEGER)) throw new SourceError('no_index')
    if (size === 4) body.writeUInt32BE(moved, at)
    else body.writeBigUInt64BE(BigInt(moved), at)
  }
}

const moveBoxes = (bytes: Buffer, from: number, by: number): void => {
  for (let at = 0; at < bytes.length; ) {
    const head = boxHeadAt(bytes, at)
    // What fills up the rest.
    if (head === null) return
    const end = head.size === null ? bytes.length : at + head.size
    if (end > bytes.length) throw new SourceError('no_index')
    const body = bytes.subarray(at + head.headerSize, end)
    // Packed: its tables cannot be moved.
    if (head.type === 'cmov') throw new SourceError('no_index')
    const entry = ENTRY_SIZES[head.type]
    if (entry !== undefined) moveTable(body, entry, from, by)
    else if (CONTAINERS.has(head.type)) moveBoxes(body, from, by)
    at = end
  }
}

/** A copy of a `moov` box for a file in which all from byte `from` on stands `by` bytes later; throws `no_index` for one that cannot be. */
export const movedIndex = (moov: Buffer, from: number, by: number): Buffer => {
  const copy = Buffer.from(moov)
  moveBoxes(copy, from, by)
  return copy
}
