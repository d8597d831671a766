/** A text for many sockets. Its frame is encoded once, and every socket sends the same bytes. */
export interface Broadcast {
  readonly text: string
  /** The whole frame, including its header. */
  readonly framed: Buffer
}

/** First byte of the header: a text frame without continuation. */
const FINAL_TEXT = 0x81
/** Second byte of the header when the length follows in 16 bits or in 64 bits. Smaller values are the length itself. */
const LENGTH_IN_16_BITS = 126
const LENGTH_IN_64_BITS = 127

/** Returns the header of an unfragmented text frame without a mask (RFC 6455, 5.2). */
const headerOf = (length: number): Buffer => {
  if (length < LENGTH_IN_16_BITS) return Buffer.from([FINAL_TEXT, length])
  if (length < 2 ** 16) {
    const header = Buffer.from([FINAL_TEXT, LENGTH_IN_16_BITS, 0, 0])
    header.writeUInt16BE(length, 2)
    return header
  }
  const header = Buffer.alloc(10)
  header.writeUInt8(FINAL_TEXT, 0)
  header.writeUInt8(LENGTH_IN_64_BITS, 1)
  header.writeUInt32BE(length, 6)
  return header
}

/** Encodes a text of at most 4 GiB. */
export const encodeBroadcast = (text: string): Broadcast => {
  const payload = Buffer.from(text)
  return { text, framed: Buffer.concat([headerOf(payload.length), payload]) }
}
