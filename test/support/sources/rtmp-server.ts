import type { Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { decodeAmf, encodeAmf, type AmfValue } from '../../../infrastructure/sources/rtmp/amf0.ts'
import { flvAudioTag } from '../../../infrastructure/sources/flv.ts'
import { createByteReader } from '../../../infrastructure/sources/network/byte-reader.ts'
import { chunksOf, createMessageReader } from '../../../infrastructure/sources/rtmp/rtmp-messages.ts'
import { listenForStream, type StreamServer } from './stream-server.ts'

/** Returns the bodies of the audio tags of an FLV file. */
export const flvAudio = (flv: Buffer): ReadonlyArray<Buffer> => {
  const bodies: Array<Buffer> = []
  for (let offset = 13; offset + 11 <= flv.length; ) {
    const size = flv.readUIntBE(offset + 1, 3)
    if (flv[offset] === 8) bodies.push(flv.subarray(offset + 11, offset + 11 + size))
    offset += 15 + size
  }
  return bodies
}

const statusOf = (code: string, more: ReadonlyArray<readonly [string, AmfValue]> = [], level = 'status'): Buffer =>
  encodeAmf(['onStatus', 0, null, new Map<string, AmfValue>([['level', level], ['code', code], ...more])])
const command = (payload: Buffer): Buffer => chunksOf(3, 20, 0, payload)

/** The control message `StreamEOF`. */
const EOF = chunksOf(2, 4, 0, Buffer.from([0, 1, 0, 0, 0, 1]))
/** The control messages `WindowAcknowledgementSize` and `PingRequest`. */
const WINDOW_AND_PING = Buffer.concat([
  chunksOf(2, 5, 0, Buffer.from([0, 0, 16, 0])),
  chunksOf(2, 4, 0, Buffer.from([0, 6, 1, 2, 3, 4])),
])
/** The header of a first chunk that announces a message of this size. */
const announce = (chunkStream: number, size: number): Buffer => {
  const header = chunksOf(chunkStream, 8, 1, Buffer.alloc(0)).subarray(0, 12)
  header.writeUIntBE(size, 4, 3)
  return header
}

const redirectTo = (url: string): ReadonlyArray<readonly [string, AmfValue]> => [
  ['redirect', url], ['ex', new Map<string, AmfValue>([['code', 302], ['redirect', url]])],
]

const rejection = (url: string): ReadonlyMap<string, AmfValue> =>
  new Map<string, AmfValue>([['level', 'error'], ['code', 'NetConnection.Connect.Rejected'], ...redirectTo(url)])

/** Unusual answers to `connect`, by the name of the application. */
const connectAnswers = (elsewhere: string): Readonly<Record<string, Buffer>> => ({
  redirect: command(encodeAmf(['_error', 1, null, rejection(elsewhere)])),
  deep: command(Buffer.concat([encodeAmf(['_result', 1]), Buffer.from('\x03\x00\x01a'.repeat(1000), 'latin1')])),
  cut: command(encodeAmf(['_result', 1, null, 'text']).subarray(0, -3)),
  unknown: command(Buffer.from([2, 0, 1, 65, 99])),
  html: Buffer.from('<html>no chunk at all</html>'.repeat(100)),
})

/** Two audio tags in one message, 64 ms apart. */
const AGGREGATE = Buffer.concat([5000, 5064].map((time) => flvAudioTag(time, Buffer.from('sound'))))

/** A small message on chunk stream `index`. */
const smallMessage = (index: number): Buffer =>
  Buffer.concat([Buffer.from([0, index]), announce(4, 128).subarray(1), Buffer.alloc(128)])

/** A message of 4 MiB that lacks its last byte. */
const hugeMessage = (id: number): Buffer => Buffer.concat([announce(id, 4_194_304), Buffer.alloc(4_194_303)])

/** Unusual answers to `play`, by the name of the stream. */
const playAnswers = (elsewhere: string): Readonly<Record<string, Buffer>> => ({
  moved: command(statusOf('NetStream.Play.Failed', redirectTo(elsewhere), 'error')),
  missing: command(statusOf('NetStream.Play.StreamNotFound', [], 'error')),
  aggregate: Buffer.concat([chunksOf(4, 22, 1, AGGREGATE), command(statusOf('NetStream.Play.UnpublishNotify'))]),
  unpublished: command(statusOf('NetStream.Play.UnpublishNotify')),
  huge: announce(4, 0xffffff),
  many: Buffer.concat(Array.from({ length: 100 }, (_, index) => smallMessage(index))),
  wide: Buffer.concat([chunksOf(2, 1, 0, Buffer.from([0, 0x3f, 0xff, 0xff])), ...[4, 5, 6].map(hugeMessage)]),
  short: chunksOf(2, 1, 0, Buffer.from([1])),
})

const audioAt = (milliseconds: number, audio: Buffer): Buffer => {
  const chunks = chunksOf(4, 8, 1, audio)
  chunks.writeUIntBE(milliseconds, 1, 3)
  return chunks
}

/** The times of the AAC messages of `packageSample`: first the configuration, then 64 ms per message. */
const timeInOrder = (_connection: number, message: number): number => Math.max(0, message - 1) * 64

interface RtmpOptions {
  readonly host?: string
  /** The URL to which redirects lead. */
  readonly elsewhere?: string
  readonly port?: number
  readonly timeOf?: (connection: number, message: number) => number
  /** Sends a live stream instead of `messages`. `send`: sends audio at a time of the stream. */
  readonly playing?: (socket: Socket, send: (milliseconds: number, audio: Buffer) => void) => void
}

/**
 * Starts an RTMP server that sends `messages` to players. Special names of applications and streams make it break the
 * protocol. `timeOf`: the time of each message in each connection, in milliseconds.
 */
export const serveRtmp = (
  t: ExecutionContext,
  messages: ReadonlyArray<Buffer>,
  { host = '127.0.0.1', elsewhere = '', port = 0, timeOf = timeInOrder, playing }: RtmpOptions = {},
): Promise<StreamServer> => {
  const [specialConnects, specialPlays] = [connectAnswers(elsewhere), playAnswers(elsewhere)]
  let plays = 0
  return listenForStream(t, 'rtmp', host, (socket, requests) => {
    const converse = async (): Promise<void> => {
      const reader = createByteReader(socket)
      const hello = await reader.exactly(1537)
      socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(1536), hello.subarray(1)]))
      await reader.exactly(1536)
      const received = createMessageReader(reader)
      for (;;) {
        const message = await received.next()
        if (message.type !== 20) continue
        const [name, transaction = 0, details, stream] = decodeAmf(message.payload)
        if (name === 'connect') {
          const appName: unknown = details instanceof Map ? details.get('app') : ''
          const app = typeof appName === 'string' ? appName : ''
          requests.push(`connect ${app}`)
          socket.write(WINDOW_AND_PING)
          socket.write(specialConnects[app] ?? command(encodeAmf(['_result', transaction, null, null])))
        } else if (name === 'createStream') socket.write(command(encodeAmf(['_result', transaction, null, 1])))
        else if (name === 'play') {
          const streamName = typeof stream === 'string' ? stream : ''
          requests.push(`play ${streamName}`)
          socket.write(command(statusOf('NetStream.Play.Start')))
          if (playing !== undefined) {
            playing(socket, (milliseconds, audio) => socket.write(audioAt(milliseconds, audio)))
            continue
          }
          const special = specialPlays[streamName]
          const sent = special === undefined ? messages : []
          for (const [index, audio] of sent.entries()) socket.write(audioAt(timeOf(plays, index), audio))
          plays += 1
          socket.write(special ?? EOF)
        }
      }
    }
    converse().catch(() => undefined)
  }, port)
}
