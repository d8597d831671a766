/** An MP4 box with a 32-bit length. `size` overrides the correct length. */
export const box = (type: string, body: Buffer | ReadonlyArray<Buffer> = [], size?: number): Buffer => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(body)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(size ?? bytes.length + 8, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, bytes])
}

/** An MP4 box with a 64-bit length. */
export const longBox = (type: string, body: Buffer, size = BigInt(body.length + 16)): Buffer => {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(size)
  return box(type, [length, body], 1)
}

/** A table of offsets: 32-bit in `stco`, 64-bit in `co64`. */
export const table = (type: 'stco' | 'co64', ...offsets: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(8 + offsets.length * 8)
  bytes.writeUInt32BE(offsets.length, 4)
  offsets.forEach((offset, index) =>
    type === 'stco'
      ? bytes.writeUInt32BE(offset, 8 + index * 4)
      : bytes.writeBigUInt64BE(BigInt(offset), 8 + index * 8),
  )
  return box(type, bytes.subarray(0, 8 + offsets.length * (type === 'stco' ? 4 : 8)))
}

/** The index (`moov`) of a file with the given offset tables. */
export const indexOf = (...tables: ReadonlyArray<Buffer>): Buffer =>
  box('moov', [
    box('mvhd', Buffer.alloc(4)),
    ...tables.map((offsets) => box('trak', box('mdia', box('minf', box('stbl', offsets))))),
  ])
