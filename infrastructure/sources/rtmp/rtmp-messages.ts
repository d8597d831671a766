import type { ByteReader } from '../network/byte-reader.ts'
import { SourceError } from '../source-error.ts'

/** A message of RTMP (Adobe, "Real-Time Messaging Protocol", 2012, sections 5.3 and 6). */
export interface RtmpMessage {
  readonly type: number
  /** Milliseconds. */
  readonly timestamp: number
  readonly payload: Buffer
}

const MAX_MESSAGE_BYTES = 4 << 20
/** Limit for all incomplete messages together. */
const MAX_INCOMPLETE_BYTES = 8 << 20
const MAX_CHUNK_STREAMS = 64
const FIRST_CHUNK_SIZE = 128
/** This timestamp means that four more bytes with the timestamp follow. */
const EXTENDED = 0xffffff
/** Size of a message header in bytes, by its two bits of type. */
const HEADER_SIZES = [11, 7, 3, 0] as const

/** The state of a chunk stream, which later chunks inherit. */
interface ChunkStream {
  timestamp: number
  /** Difference between the timestamps of two messages. */
  delta: number
  /** The 24-bit timestamp field of the last header. */
  field: number
  length: number
  type: number
  parts: Array<Buffer>
  received: number
}

export interface MessageReader {
  readonly next: () => Promise<RtmpMessage>
  readonly setChunkSize: (size: number) => void
  /** Drops an incomplete message that the server abandons. */
  readonly abort: (chunkStream: number) => void
  /** Returns the number of received bytes. */
  readonly received: () => number
}

export const createMessageReader = (reader: ByteReader): MessageReader => {
  const streams = new Map<number, ChunkStream>()
  let chunkSize = FIRST_CHUNK_SIZE
  let received = 0
  let incomplete = 0

  const take = async (size: number): Promise<Buffer> => {
    received += size
    return reader.exactly(size)
  }

  const chunkStreamId = async (low: number): Promise<number> => {
    if (low === 0) return 64 + (await take(1)).readUInt8()
    return low === 1 ? 64 + (await take(2)).readUInt16LE() : low
  }

  const streamOf = (id: number): ChunkStream => {
    const known = streams.get(id)
    if (known !== undefined) return known
    if (streams.size >= MAX_CHUNK_STREAMS) throw new SourceError('bad_answer')
    const stream: ChunkStream = { timestamp: 0, delta: 0, field: 0, length: 0, type: 0, parts: [], received: 0 }
    streams.set(id, stream)
    return stream
  }

  const clear = (stream: ChunkStream): void => {
    incomplete -= stream.received
    stream.parts = []
    stream.received = 0
  }

  const readHeader = async (stream: ChunkStream, kind: number): Promise<void> => {
    const size = HEADER_SIZES[kind] ?? 0
    if (size > 0) {
      const header = await take(size)
      // A header starts a new message.
      clear(stream)
      stream.field = header.readUIntBE(0, 3)
      if (size >= 7) {
        stream.length = header.readUIntBE(3, 3)
        stream.type = header.readUInt8(6)
      }
    }
    const time = stream.field === EXTENDED ? (await take(4)).readUInt32BE() : stream.field
    if (stream.received > 0) return
    if (kind === 0) stream.timestamp = time
    else {
      if (kind < 3) stream.delta = time
      stream.timestamp = (stream.timestamp + stream.delta) % 2 ** 32
    }
  }

  /** Reads a chunk. Returns the message that it completes, or null. */
  const readChunk = async (): Promise<RtmpMessage | null> => {
    const first = (await take(1)).readUInt8()
    const stream = streamOf(await chunkStreamId(first & 63))
    await readHeader(stream, first >> 6)
    if (stream.length > MAX_MESSAGE_BYTES) throw new SourceError('bad_answer')
    const size = Math.min(chunkSize, stream.length - stream.received)
    incomplete += size
    if (incomplete > MAX_INCOMPLETE_BYTES) throw new SourceError('bad_answer')
    stream.parts.push(await take(size))
    stream.received += size
    if (stream.received < stream.length) return null
    const payload = Buffer.concat(stream.parts)
    clear(stream)
    return { type: stream.type, timestamp: stream.timestamp, payload }
  }

  return {
    next: async () => {
      for (;;) {
        const message = await readChunk()
        if (message !== null) return message
      }
    },
    setChunkSize: (size) => {
      chunkSize = Math.max(1, size)
    },
    abort: (id) => {
      const stream = streams.get(id)
      if (stream !== undefined) clear(stream)
    },
    received: () => received,
  }
}

/** Splits a message into chunks of the initial size. `chunkStream` must be less than 64. */
export const chunksOf = (chunkStream: number, type: number, messageStream: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(12)
  header.writeUInt8(chunkStream, 0)
  header.writeUIntBE(payload.length, 4, 3)
  header.writeUInt8(type, 7)
  header.writeUInt32LE(messageStream, 8)
  const parts: Array<Buffer> = [header, payload.subarray(0, FIRST_CHUNK_SIZE)]
  for (let at = FIRST_CHUNK_SIZE; at < payload.length; at += FIRST_CHUNK_SIZE)
    parts.push(Buffer.from([0xc0 | chunkStream]), payload.subarray(at, at + FIRST_CHUNK_SIZE))
  return Buffer.concat(parts)
}
