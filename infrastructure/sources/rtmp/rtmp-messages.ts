import type { ByteReader } from '../network/byte-reader.ts'
import { SourceError } from '../source-error.ts'

/** A message of RTMP (Adobe, "Real-Time Messaging Protocol", 2012, sections 5.3 and 6). */
export interface RtmpMessage {
  readonly type: number
  /** Milliseconds. */
  readonly timestamp: number
  readonly payload: Buffer
}

/** S8; also of all messages together that are under way. */
const MAX_MESSAGE = 4 << 20
const MAX_UNDER_WAY = 8 << 20
const MAX_CHUNK_STREAMS = 64
const FIRST_CHUNK_SIZE = 128
/** Stands for four more bytes of timestamp. */
const EXTENDED = 0xffffff
/** Bytes of a message header, by the two bits of its kind. */
const HEADER_SIZES = [11, 7, 3, 0] as const

/** What a chunk inherits from those before it. */
interface ChunkStream {
  timestamp: number
  /** Of the timestamps of one message and the next. */
  delta: number
  /** The 24 bits of the last header. */
  field: number
  length: number
  type: number
  parts: Array<Buffer>
  got: number
}

export interface MessageReader {
  readonly next: () => Promise<RtmpMessage>
  /** The server will send chunks of this size. */
  readonly setChunkSize: (size: number) => void
  /** The server gives up a message that it has begun. */
  readonly abort: (chunkStream: number) => void
  /** Bytes so far. */
  readonly received: () => number
}

/** Puts messages together from their chunks. */
export const createMessageReader = (reader: ByteReader): MessageReader => {
  const streams = new Map<number, ChunkStream>()
  let chunkSize = FIRST_CHUNK_SIZE
  let [received, underWay] = [0, 0]

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
    if (streams.size >= MAX_CHUNK_STREAMS) throw new SourceError('too_large')
    const made: ChunkStream = { timestamp: 0, delta: 0, field: 0, length: 0, type: 0, parts: [], got: 0 }
    streams.set(id, made)
    return made
  }

  const drop = (stream: ChunkStream): void => {
    underWay -= stream.got
    stream.parts = []
    stream.got = 0
  }

  const readHeader = async (stream: ChunkStream, kind: number): Promise<void> => {
    const size = HEADER_SIZES[kind] ?? 0
    if (size > 0) {
      const header = await take(size)
      // A header begins a message.
      drop(stream)
      stream.field = header.readUIntBE(0, 3)
      if (size >= 7) {
        stream.length = header.readUIntBE(3, 3)
        stream.type = header.readUInt8(6)
      }
    }
    const time = stream.field === EXTENDED ? (await take(4)).readUInt32BE() : stream.field
    if (stream.got > 0) return
    if (kind === 0) stream.timestamp = time
    else {
      if (kind < 3) stream.delta = time
      stream.timestamp = (stream.timestamp + stream.delta) % 2 ** 32
    }
  }

  /** Takes a chunk; the message that it completes, else null. */
  const chunk = async (): Promise<RtmpMessage | null> => {
    const first = (await take(1)).readUInt8()
    const stream = streamOf(await chunkStreamId(first & 63))
    await readHeader(stream, first >> 6)
    if (stream.length > MAX_MESSAGE) throw new SourceError('too_large')
    const size = Math.min(chunkSize, stream.length - stream.got)
    underWay += size
    if (underWay > MAX_UNDER_WAY) throw new SourceError('too_large')
    stream.parts.push(await take(size))
    stream.got += size
    if (stream.got < stream.length) return null
    const payload = Buffer.concat(stream.parts)
    drop(stream)
    return { type: stream.type, timestamp: stream.timestamp, payload }
  }

  return {
    next: async () => {
      for (;;) {
        const message = await chunk()
        if (message !== null) return message
      }
    },
    setChunkSize: (size) => {
      chunkSize = Math.max(1, size)
    },
    abort: (id) => {
      const stream = streams.get(id)
      if (stream !== undefined) drop(stream)
    },
    received: () => received,
  }
}

/** A message as chunks of the size that holds before any other is agreed on; chunk streams below 64. */
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
