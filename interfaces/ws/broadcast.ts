/** A text for many sockets. Its frame is encoded once, and every socket sends the same bytes. */
export interface Broadcast {
  readonly text: string
  /** The whole frame, header included. */
  readonly framed: Buffer
}

const FINAL_TEXT = 0x81
const MEDIUM = 126
const LONG = 127

/** Header of an unfragmented text frame without a mask (RFC 6455, 5.2). */
const headerOf = (length: number): Buffer => {
  if (length < MEDIUM) return Buffer.from([FINAL_TEXT, length])
  if (length < 2 ** 16) {
    const header = Buffer.from([FINAL_TEXT, MEDIUM, 0, 0])
    header.writeUInt16BE(length, 2)
    return header
  }
  const header = Buffer.alloc(10)
  header.writeUInt8(FINAL_TEXT, 0)
  header.writeUInt8(LONG, 1)
  header.writeUInt32BE(length, 6)
  return header
}

/** Encodes a text of at most 4 GiB. */
export const encodeBroadcast = (text: string): Broadcast => {
  const payload = Buffer.from(text)
  return { text, framed: Buffer.concat([headerOf(payload.length), payload]) }
}
