/** Opus packets as an Ogg stream (RFC 3533, RFC 7845), one packet a page. */
const SERIAL = 1
const BEGIN = 2
const MAX_PACKET = 255 * 254
/** Samples a second of every granule position, whatever was recorded. */
const RATE = 48_000

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24
  for (let bit = 0; bit < 8; bit += 1) value = value < 0 ? (value << 1) ^ 0x04c11db7 : value << 1
  return value
})

const checksum = (bytes: Buffer): number => {
  let crc = 0
  for (const byte of bytes) crc = (crc << 8) ^ (CRC_TABLE[((crc >>> 24) ^ byte) & 255] ?? 0)
  return crc >>> 0
}

const pageOf = (packet: Buffer, granule: bigint, index: number, flags: number): Buffer => {
  const segments = [...Array.from({ length: Math.floor(packet.length / 255) }, () => 255), packet.length % 255]
  const page = Buffer.concat([Buffer.alloc(27), Buffer.from(segments), packet])
  page.write('OggS', 0, 'latin1')
  page.writeUInt8(flags, 5)
  page.writeBigUInt64LE(granule, 6)
  page.writeUInt32LE(SERIAL, 14)
  page.writeUInt32LE(index % 2 ** 32, 18)
  page.writeUInt8(segments.length, 26)
  page.writeUInt32LE(checksum(page), 22)
  return page
}

const head = (channels: number): Buffer => {
  const bytes = Buffer.alloc(19)
  bytes.write('OpusHead', 0, 'latin1')
  bytes.writeUInt8(1, 8)
  bytes.writeUInt8(channels, 9)
  bytes.writeUInt32LE(RATE, 12)
  return bytes
}

const tags = (): Buffer => Buffer.concat([Buffer.from('OpusTags\x08\0\0\0stenolog\0\0\0\0', 'latin1')])

/** Samples in a packet by its first bytes (RFC 6716, 3.1), at 48 kHz. */
const samplesIn = (packet: Buffer): number => {
  const first = packet[0] ?? 0
  const config = first >> 3
  const frame = config < 12 ? [480, 960, 1920, 2880][config % 4] : config < 16 ? [480, 960][config % 2] : [120, 240, 480, 960][config % 4]
  const code = first & 3
  const frames = code === 0 ? 1 : code === 3 ? (packet[1] ?? 0) & 63 : 2
  return (frame ?? 0) * frames
}

export const createOggOpus = (channels: number) => {
  let [index, granule] = [2, 0n]
  return {
    begin: Buffer.concat([pageOf(head(channels), 0n, 0, BEGIN), pageOf(tags(), 0n, 1, 0)]),
    /** Nothing for what is no packet. */
    packet: (packet: Buffer): Buffer => {
      if (packet.length === 0 || packet.length > MAX_PACKET) return Buffer.alloc(0)
      granule += BigInt(samplesIn(packet))
      index += 1
      return pageOf(packet, granule, index - 1, 0)
    },
  }
}
