/** An RTP packet (RFC 3550). */
export interface RtpPacket {
  readonly payloadType: number
  readonly marker: boolean
  /** 16 bits. */
  readonly sequence: number
  /** 32 bits, in ticks of the format's clock. */
  readonly timestamp: number
  readonly payload: Buffer
}

const HEADER_BYTES = 12
const BYE = 203

/** Parses an RTP packet; null: invalid. */
export const parseRtp = (bytes: Buffer): RtpPacket | null => {
  if (bytes.length < HEADER_BYTES || bytes.readUInt8(0) >> 6 !== 2) return null
  const flags = bytes.readUInt8(0)
  let begin = HEADER_BYTES + 4 * (flags & 15)
  if ((flags & 0x10) !== 0) begin += begin + 4 <= bytes.length ? 4 + 4 * bytes.readUInt16BE(begin + 2) : bytes.length
  const padding = (flags & 0x20) === 0 ? 0 : bytes.readUInt8(bytes.length - 1)
  if (begin + padding > bytes.length) return null
  const second = bytes.readUInt8(1)
  return {
    payloadType: second & 127,
    marker: second >= 128,
    sequence: bytes.readUInt16BE(2),
    timestamp: bytes.readUInt32BE(4),
    payload: bytes.subarray(begin, bytes.length - padding),
  }
}

/** Whether a compound RTCP packet announces the end of the stream (BYE). */
export const saysGoodbye = (bytes: Buffer): boolean => {
  for (let at = 0; at + 4 <= bytes.length; at += 4 + 4 * bytes.readUInt16BE(at + 2)) {
    if (bytes.readUInt8(at) >> 6 !== 2) return false
    if (bytes.readUInt8(at + 1) === BYE) return true
  }
  return false
}
