import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { createAuthentication } from '../../../infrastructure/sources/network/authentication.ts'
import { parseAudioMessage } from '../../../infrastructure/sources/rtmp/audio-messages.ts'
import { parseSdp } from '../../../infrastructure/sources/rtsp/sdp.ts'
import { createRtspConnection } from '../../../infrastructure/sources/rtsp/rtsp-connection.ts'
import { SourceError, sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'
import { interleaved } from './rtsp-server.ts'

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))

const letters = fc.constantFrom('Opus', 'ac-3', 'ec-3', 'fLaC', 'mp4a', '.mp3', 'abcd').map((text) => Buffer.from(text))

/** Audio messages of RTMP: random bytes, or the parts of enhanced RTMP in a random order. */
const audioMessages = fc.oneof(
  bytes(64),
  fc
    .tuple(
      fc.constantFrom(0x90, 0x91, 0x92, 0x94, 0x95, 0x97),
      fc.array(fc.oneof(letters, bytes(8), fc.constant(Buffer.from([0xff, 0xff, 0xff])), fc.constant(Buffer.alloc(4)))),
    )
    .map(([first, parts]) => Buffer.concat([Buffer.from([first]), ...parts])),
)

/** Every audio message is parsed to a body that is no larger, or ends with `bad_answer` or `unsupported`. */
export const fuzzAudioMessages = (numRuns: number): void =>
  fc.assert(
    fc.property(audioMessages, (payload) => {
      try {
        const message = parseAudioMessage(payload)
        return message === null || message.body.length <= payload.length
      } catch (error) {
        return error instanceof SourceError && ['bad_answer', 'unsupported'].includes(error.code)
      }
    }),
    { numRuns },
  )

/** Returns the contents of the packets in the bytes of a server, and the code of the end. */
const receivedFrom = async (sent: Buffer) => {
  const socket = Object.assign(new PassThrough(), { setTimeout: () => undefined })
  socket.end(sent)
  const connection = createRtspConnection(socket as unknown as Socket, createAuthentication(null))
  connection.setSession('1', { rtp: 0, rtcp: 1 })
  const packets: Array<Buffer> = []
  try {
    for (;;) packets.push((await connection.packet()).payload)
  } catch (error) {
    return { packets, code: sourceErrorOf(error).code }
  }
}

/** Packets of RTP and RTCP, which begin with the version 2. */
const packets = fc.tuple(fc.constantFrom(0, 1), bytes(200)).map(([channel, rest]) => ({
  channel, payload: Buffer.concat([Buffer.from([0x80]), rest]),
}))
/** Bytes that are no message: without capitals, and with `$` only before the number of another channel. */
const stray = bytes(100).map((random) =>
  Buffer.from(random.map((byte, index) => (byte >= 0x41 && byte <= 0x5a) || (byte < 2 && index > 0) ? 0x61 : byte)))

/** Every packet arrives, whatever lies between packets. */
export const fuzzStrayBytes = (numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(stray, packets), { maxLength: 20 }), async (parts) => {
      const sent = parts.flatMap(([between, { channel, payload }]) => [between, interleaved(channel, payload)])
      const received = await receivedFrom(Buffer.concat(sent))
      const expected = parts.map(([, { payload }]) => payload)
      return received.code === 'closed' && Buffer.concat(received.packets).equals(Buffer.concat(expected))
    }),
    { numRuns },
  )

const sdpLines = fc.constantFrom(
  'm=audio 0 RTP/AVP 0 96', 'm=audio 9 RTP/SAVPF 96', 'm=video 0 RTP/AVP 97', 'a=rtpmap:96 mpeg4-generic/16000/1',
  'a=sendonly', 'a=fmtp:96 sizeLength=13; config=1408', 'a=rtpmap:96 opus/48000/2', 'a=control:t0', 'a=recvonly',
  'a=inactive',
)

/** Every description is parsed, and offers no more media than it has lines. */
export const fuzzDescriptions = (numRuns: number): void =>
  fc.assert(
    fc.property(fc.array(fc.oneof(sdpLines, fc.string())), (lines) => {
      const { audio } = parseSdp(lines.join('\r\n'))
      return audio.length <= lines.length
    }),
    { numRuns },
  )

const text = fc.constantFrom(
  'RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n', 'RTSP/1.0 200 OK\r\nContent-Length: 99999\r\n\r\n', 'RTSP/x',
  'OPTIONS * RTSP/1.0\r\n', 'REDIRECT rtsp://x RTSP/1.0\r\n\r\n', 'Content-Length: 7\r\n', '\r\n\r\n',
)

/** Whatever a server sends, the connection ends with a code that is known. */
export const fuzzRtsp = (numRuns: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(bytes(60), text.map((line) => Buffer.from(line)), fc.constant(Buffer.from('$\0')))),
      async (parts) => {
        const { code } = await receivedFrom(Buffer.concat(parts))
        return ['closed', 'bad_answer', 'too_large'].includes(code)
      },
    ),
    { numRuns },
  )
