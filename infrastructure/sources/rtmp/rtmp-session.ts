import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { type AmfValue, decodeAmf, encodeAmf } from './amf0.ts'
import { EXTENDED_CODECS } from './audio-messages.ts'
import { type ByteReader, createByteReader } from '../network/byte-reader.ts'
import { chunksOf, createMessageReader, type RtmpMessage } from './rtmp-messages.ts'
import { SourceError } from '../source-error.ts'

const VERSION = 3
const HANDSHAKE_BYTES = 1536

// Types of messages.
const SET_CHUNK_SIZE = 1
const ABORT = 2
const ACKNOWLEDGEMENT = 3
const USER_CONTROL = 4
const WINDOW_SIZE = 5
const PEER_BANDWIDTH = 6
const COMMAND = 20
// User control events.
const STREAM_EOF = 1
const BUFFER_LENGTH = 3
const PING = 6
const PONG = 7
// Our chunk streams.
const CONTROL_STREAM = 2
const COMMAND_STREAM = 3
const PLAY_STREAM = 8

/** The buffer length that we announce. */
const BUFFERED_MS = 1000
/** What enhanced RTMP says about a codec: a bit that we set for those that we play. */
const CAN_DECODE = 1
/** Plays a live stream or, if there is none, a recording of the same name. */
const LIVE_OR_RECORDED = -2000
/** Messages that a server may send before the answer to a command. */
const MAX_MESSAGES_BEFORE_ANSWER = 1000
/** Status codes for the end of a stream. The stream may come back. */
const END_CODES = new Set(['NetStream.Play.Stop', 'NetStream.Play.Complete', 'NetStream.Play.UnpublishNotify'])

export interface RtmpTarget {
  readonly url: string
  readonly app: string
  readonly stream: string
}

export interface RtmpSession {
  /** Requests a stream and waits until the server accepts the request. Throws `refused`. */
  readonly play: (target: RtmpTarget) => Promise<void>
  /** Returns the next message that is not a control message. Throws `stream_over` at an announced end. */
  readonly next: () => Promise<RtmpMessage>
}

/** Performs the handshake of version 3 without a digest. Servers require a digest only for content that needs Flash. */
const shakeHands = async (socket: Socket, reader: ByteReader): Promise<void> => {
  socket.write(Buffer.concat([Buffer.from([VERSION]), Buffer.alloc(8), randomBytes(HANDSHAKE_BYTES - 8)]))
  if ((await reader.exactly(1)).readUInt8() !== VERSION) throw new SourceError('bad_answer')
  socket.write(await reader.exactly(HANDSHAKE_BYTES))
  await reader.exactly(HANDSHAKE_BYTES)
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value % 2 ** 32)
  return bytes
}

const event = (kind: number, ...values: ReadonlyArray<number>): Buffer =>
  Buffer.concat([Buffer.from([0, kind]), ...values.map(uint32)])

/** Reads a number. Throws `bad_answer` when the payload is too short. */
const numberIn = (payload: Buffer, offset = 0): number => {
  if (payload.length < offset + 4) throw new SourceError('bad_answer')
  return payload.readUInt32BE(offset)
}

const memberOf = (value: AmfValue | undefined, name: string): AmfValue | undefined =>
  value instanceof Map ? (value as ReadonlyMap<string, AmfValue>).get(name) : undefined

export const openRtmp = async (socket: Socket): Promise<RtmpSession> => {
  const reader = createByteReader(socket)
  await shakeHands(socket, reader)
  const messages = createMessageReader(reader)
  let window = Infinity
  let acknowledged = 0

  const send = (chunkStream: number, type: number, payload: Buffer, messageStream = 0): void => {
    socket.write(chunksOf(chunkStream, type, messageStream, payload))
  }

  const acknowledge = (): void => {
    if (messages.received() - acknowledged < window) return
    acknowledged = messages.received()
    send(CONTROL_STREAM, ACKNOWLEDGEMENT, uint32(acknowledged))
  }

  const userControl = (payload: Buffer): void => {
    if (payload.length < 2) throw new SourceError('bad_answer')
    const kind = payload.readUInt16BE()
    if (kind === PING) send(CONTROL_STREAM, USER_CONTROL, event(PONG, numberIn(payload, 2)))
    if (kind === STREAM_EOF) throw new SourceError('stream_over')
  }

  const control: Readonly<Record<number, (payload: Buffer) => void>> = {
    [SET_CHUNK_SIZE]: (payload) => messages.setChunkSize(numberIn(payload) % 2 ** 31),
    [ABORT]: (payload) => messages.abort(numberIn(payload)),
    [ACKNOWLEDGEMENT]: () => undefined,
    [USER_CONTROL]: userControl,
    [WINDOW_SIZE]: (payload) => { window = Math.max(1024, numberIn(payload)) },
    [PEER_BANDWIDTH]: (payload) => send(CONTROL_STREAM, WINDOW_SIZE, uint32(numberIn(payload))),
  }

  /** Handles control messages and returns the next other message. */
  const receive = async (): Promise<RtmpMessage> => {
    for (;;) {
      const message = await messages.next()
      acknowledge()
      const handle = control[message.type]
      if (handle === undefined) return message
      handle(message.payload)
    }
  }

  const throwIfEnded = ([name, , , info]: ReadonlyArray<AmfValue>): void => {
    if (name !== 'onStatus') return
    const code = memberOf(info, 'code')
    if (typeof code === 'string' && END_CODES.has(code)) throw new SourceError('stream_over')
    if (memberOf(info, 'level') === 'error') throw new SourceError('refused')
  }

  /** Returns the arguments of the answer to a command. Ignores redirects, because their address is not checked. */
  const answerTo = async (transaction: number): Promise<ReadonlyArray<AmfValue>> => {
    for (let count = 0; count < MAX_MESSAGES_BEFORE_ANSWER; count += 1) {
      const { type, payload } = await receive()
      if (type !== COMMAND) continue
      const command = decodeAmf(payload)
      const [name, answered, ...rest] = command
      throwIfEnded(command)
      if (answered !== transaction) continue
      if (name === '_error') throw new SourceError('refused')
      if (name === '_result') return rest
    }
    throw new SourceError('bad_answer')
  }

  return {
    play: async ({ url, app, stream }) => {
      const extendedCodecs = new Map(EXTENDED_CODECS.map((codec) => [codec, CAN_DECODE]))
      const properties = new Map<string, AmfValue>([
        ['app', app], ['flashVer', 'LNX 9,0,124,2'], ['tcUrl', url], ['fpad', false], ['capabilities', 15],
        ['audioCodecs', 4071], ['videoCodecs', 252], ['videoFunction', 1], ['audioFourCcInfoMap', extendedCodecs],
      ])
      send(COMMAND_STREAM, COMMAND, encodeAmf(['connect', 1, properties]))
      await answerTo(1)
      send(COMMAND_STREAM, COMMAND, encodeAmf(['createStream', 2, null]))
      const [, id] = await answerTo(2)
      if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= 2 ** 32)
        throw new SourceError('bad_answer')
      send(PLAY_STREAM, COMMAND, encodeAmf(['play', 3, null, stream, LIVE_OR_RECORDED]), id)
      send(CONTROL_STREAM, USER_CONTROL, event(BUFFER_LENGTH, id, BUFFERED_MS))
    },
    next: async () => {
      const message = await receive()
      if (message.type === COMMAND) throwIfEnded(decodeAmf(message.payload))
      return message
    },
  }
}
