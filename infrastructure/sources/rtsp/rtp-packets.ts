/** RFC 3550. */
export interface RtpPacket {
  readonly payloadType: number
  readonly marker: boolean
  /** 16 bits. */
  readonly sequence: number
  /** 32 bits, in units of the format's clock. */
  readonly timestamp: number
  readonly payload: Buffer
}

const HEADER = 12
const BYE = 203

/** Null for what is no RTP. */
export const parseRtp = (bytes: Buffer): RtpPacket | null => {
  if (bytes.length < HEADER || bytes.readUInt8(0) >> 6 !== 2) return null
  const flags = bytes.readUInt8(0)
  let begin = HEADER + 4 * (flags & 15)
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

/** Does this RTCP packet, of several parts, say that the sender leaves (D56)? */
export const saysGoodbye = (bytes: Buffer): boolean => {
  for (let at = 0; at + 4 <= bytes.length; at += 4 + 4 * bytes.readUInt16BE(at + 2)) {
    if (bytes.readUInt8(at) >> 6 !== 2) return false
    if (bytes.readUInt8(at + 1) === BYE) return true
  }
  return false
}
