import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ExecutionContext } from 'ava'
import { listenForStream, type StreamServer } from './stream-server.ts'

/** The account of a protected server. */
export const SECRET = { user: 'okapi', password: 'wapiti 47' }
const [REALM, NONCE] = ['a stable', 'e1b2c3']

/** Audio as an RTSP server describes and sends it. */
export interface RtpAudio {
  /** The lines of the session description from `m=` on, without `a=control`. */
  readonly description: string
  /** Complete RTP packets. */
  readonly packets: ReadonlyArray<Buffer>
}

const rtpPacket = (type: number, index: number, timestamp: number, payload: Buffer, marker = true): Buffer => {
  const head = Buffer.alloc(12)
  head.writeUInt8(0x80, 0)
  head.writeUInt8(marker ? type + 128 : type, 1)
  head.writeUInt16BE(index % 65_536, 2)
  head.writeUInt32BE(timestamp, 4)
  return Buffer.concat([head, payload])
}

/** A quiet square wave of this length, 20 ms per packet. */
export const pcmuAudio = (seconds: number): RtpAudio => {
  const payload = Buffer.from(Array.from({ length: 160 }, (_, index) => (index % 16 < 8 ? 0xb0 : 0x30)))
  const packets = Array.from({ length: seconds * 50 }, (_, index) => rtpPacket(0, index, index * 160, payload))
  return { description: 'm=audio 0 RTP/AVP 0\r\n', packets }
}

/** Opus packets, 20 ms each. */
export const opusAudio = (packets: ReadonlyArray<Buffer>): RtpAudio => ({
  description: 'm=audio 0 RTP/AVP 97\r\na=rtpmap:97 opus/48000/2\r\n',
  packets: packets.map((packet, index) => rtpPacket(97, index, index * 960, packet)),
})

/**
 * Converts the audio messages of an FLV file (AAC, 16 kHz) to mpeg4-generic: three units per packet. The first unit of
 * every fourth packet is split into two packets.
 */
export const aacAudio = (messages: ReadonlyArray<Buffer>): RtpAudio => {
  const config = messages.find((message) => message[1] === 0)?.subarray(2).toString('hex') ?? ''
  const units = messages.filter((message) => message[1] === 1).map((message) => message.subarray(2))
  const packets: Array<Buffer> = []
  const add = (unit: number, headers: ReadonlyArray<number>, payload: ReadonlyArray<Buffer>, marker = true): void => {
    const section = Buffer.alloc(2 + 2 * headers.length)
    section.writeUInt16BE(16 * headers.length)
    for (const [index, size] of headers.entries()) section.writeUInt16BE(size * 8, 2 + 2 * index)
    packets.push(rtpPacket(96, packets.length, unit * 1024, Buffer.concat([section, ...payload]), marker))
  }
  for (let start = 0; start < units.length; start += 3) {
    const group = units.slice(start, start + 3)
    if (packets.length % 4 === 0 && group.length === 3) {
      const [first = Buffer.alloc(0), ...rest] = group
      add(start, [first.length], [first.subarray(0, 50)], false)
      add(start, [first.length], [first.subarray(50)])
      add(start + 1, rest.map((unit) => unit.length), rest)
    } else add(start, group.map((unit) => unit.length), group)
  }
  const lengths = 'sizeLength=13; indexLength=3; indexDeltaLength=3'
  const format = `a=fmtp:96 streamtype=5; profile-level-id=1; mode=AAC-hbr; ${lengths}; config=${config}`
  return { description: `m=audio 0 RTP/AVP 96\r\na=rtpmap:96 mpeg4-generic/16000/1\r\n${format}\r\n`, packets }
}

export const interleaved = (channel: number, packet: Buffer): Buffer => {
  const head = Buffer.from([0x24, channel, 0, 0])
  head.writeUInt16BE(packet.length, 2)
  return Buffer.concat([head, packet])
}

/** An empty receiver report, then BYE. */
const GOODBYE = interleaved(1, Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 7, 0x81, 203, 0, 1, 0, 0, 0, 7]))

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** Returns whether the Authorization header answers `challengeOf(scheme)`. */
export const isAuthorised = (scheme: string, method: string, header: string): boolean => {
  const { user, password } = SECRET
  if (scheme === 'basic') return header === `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  const part = (name: string): string => new RegExp(`\\b${name}="?([^",]*)`).exec(header)?.[1] ?? ''
  const [account, request] = [md5(`${user}:${REALM}:${password}`), md5(`${method}:${part('uri')}`)]
  const expected = md5(`${account}:${NONCE}:${part('nc')}:${part('cnonce')}:auth:${request}`)
  return part('nonce') === NONCE && part('response') === expected
}

const DIGEST = `Digest realm="${REALM}", qop="auth,auth-int", nonce="${NONCE}", opaque="0"`

export const challengeOf = (scheme: string): string =>
  scheme === 'basic' ? `Basic realm="${REALM}"` : `Basic realm="no", ${DIGEST}`

/** The first part of the path: `ok`, `basic`, `digest`, or a kind of misbehaviour. */
const kindOf = (uri: string): string => /^rtsps?:\/\/[^/]*\/([\w-]+)/.exec(uri)?.[1] ?? ''

type Reply = (status: string, head?: string, body?: string) => void

/** Bytes between messages: parts of a packet, a look-alike of one on another channel, and line ends. */
export const STRAY = Buffer.from('\x80\x00lost$\x09\0\x04part\r\n\r\nSTRAY', 'latin1')

/** Options of `serveRtsp`. `elsewhere`: the address to which misbehaving answers lead. */
interface RtspOptions {
  readonly host?: string
  readonly elsewhere?: string
}

/** Starts an RTSP server that sends `audio` without delay and then ends the stream. Special paths make it misbehave. */
export const serveRtsp = (
  t: ExecutionContext,
  audio: RtpAudio,
  { host = '127.0.0.1', elsewhere = '127.0.0.3:9' }: RtspOptions = {},
): Promise<StreamServer> =>
  listenForStream(t, 'rtsp', host, (socket: Socket, requests) => {
    let text = ''

    const answer = (method: string, uri: string, kind: string, reply: Reply): void => {
      const [elsewhereHost, elsewherePort] = elsewhere.split(':')
      const location = `Location: rtsp://${elsewhere}/x\r\n`
      const describe = (media: string, session = ''): string => `v=0\r\n${session}${media}`
      const transport = (value: string): string => `Session: 1\r\nTransport: ${value}\r\n`
      if (kind === `redirect-${method.toLowerCase()}`) return reply('302 Moved', location)
      if (kind.startsWith('redirect-to-'))
        return reply('302 Moved', `Location: ${decodeURIComponent(new URL(uri).search.slice(1))}\r\n`)
      if (kind === 'loop') return reply('302 Moved', 'Location: /loop\r\n')
      const { description } = audio
      const special: Readonly<Record<string, () => void>> = {
        'DESCRIBE smuggle': () => {
          socket.write('RTSP/1.0 200 OK\r\nCSeq: 2\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n')
          socket.write(`RTSP/1.0 302 Moved\r\nCSeq: 2\r\n${location}\r\n`)
        },
        'DESCRIBE long-head': () => void socket.write(`RTSP/1.0 200 OK\r\nX: ${'x'.repeat(100_000)}`),
        'DESCRIBE long-body': () => reply('200 OK', 'Content-Length: 999999999\r\n'),
        'DESCRIBE html': () => void socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n'),
        'DESCRIBE video': () => reply('200 OK', '', describe('m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n')),
        'DESCRIBE speex': () => reply('200 OK', '', describe('m=audio 0 RTP/AVP 96\r\na=rtpmap:96 speex/16000\r\n')),
        'DESCRIBE encrypted': () => reply('200 OK', '', describe('m=audio 0 RTP/SAVP 0\r\n')),
        'DESCRIBE control': () =>
          reply('200 OK', '', describe(`${description}a=control:rtsp://${elsewhere}/t0\r\n`)),
        'DESCRIBE base': () =>
          reply('200 OK', `Content-Base: rtsp://${elsewhere}/b/\r\n`, describe(`${description}a=control:t0\r\n`)),
        'DESCRIBE bad-control': () =>
          reply('200 OK', '', describe(`${description}a=control:http://${elsewhere}/t0\r\n`)),
        // The length leaves out the last line end, as some cameras count.
        'DESCRIBE short-length': () => {
          const body = describe(`${description}a=control:t0`)
          reply('200 OK', `Content-Length: ${body.length}\r\n`)
          socket.write(`${body}\r\n`)
        },
        'DESCRIBE recvonly': () => reply('200 OK', '', describe(`${description}a=recvonly\r\na=control:t0\r\n`)),
        'DESCRIBE sendonly': () => reply('200 OK', '', describe(`${description}a=sendonly\r\na=control:t0\r\n`)),
        'DESCRIBE all-recvonly': () =>
          reply('200 OK', '', describe(`${description}a=control:t0\r\n`, 's=x\r\na=recvonly\r\n')),
        // As ONVIF cameras with a loudspeaker describe themselves.
        'DESCRIBE two-way': () => {
          const loudspeaker = `${description}a=sendonly\r\na=control:back\r\n`
          reply('200 OK', '', describe(`${loudspeaker}${description}a=recvonly\r\na=control:t0\r\n`))
        },
        'SETUP only-udp': () => reply('461 Unsupported transport'),
        'SETUP udp': () => {
          const ports = `client_port=20000-20001;server_port=${elsewherePort}`
          reply('200 OK', transport(`RTP/AVP/UDP;unicast;interleaved=0-1;${ports};source=${elsewhereHost}`))
        },
        'SETUP multicast': () =>
          reply('200 OK', transport(`RTP/AVP;multicast;destination=${elsewhereHost};port=${elsewherePort};ttl=1`)),
        'PLAY server-request': () => {
          reply('200 OK')
          socket.write(`REDIRECT rtsp://x RTSP/1.0\r\nCSeq: 9\r\n${location}\r\n`)
        },
        'PLAY stray': () => {
          reply('200 OK', 'Session: 71\r\n')
          for (const packet of audio.packets) socket.write(Buffer.concat([STRAY, interleaved(0, packet)]))
          socket.write(Buffer.concat([STRAY, GOODBYE]))
        },
        'PLAY noise': () => {
          reply('200 OK', 'Session: 71\r\n')
          socket.write(Buffer.alloc(300_000, STRAY))
        },
        OPTIONS: () => reply('200 OK', 'Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN\r\n'),
        // Clients must ignore the addresses in the session description.
        DESCRIBE: () => {
          const session = `o=- 0 0 IN IP4 ${elsewhereHost}\r\ns=x\r\nc=IN IP4 ${elsewhereHost}\r\nt=0 0\r\n`
          reply('200 OK', '', describe(`${description}a=control:t0\r\n`, session))
        },
        SETUP: () => reply('200 OK', 'Session: 71;timeout=60\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n'),
        PLAY: () => {
          reply('200 OK', 'Session: 71\r\n')
          for (const packet of audio.packets) socket.write(interleaved(0, packet))
          socket.write(GOODBYE)
        },
      }
      const act = special[`${method} ${kind}`] ?? special[method]
      if (act === undefined) reply('200 OK')
      else act()
    }

    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
        const message = text.slice(0, end)
        text = text.slice(end + 4)
        const [method = '', uri = ''] = message.split(' ')
        requests.push(`${method} ${uri}`)
        const kind = kindOf(uri)
        const number = /^cseq: *(\d+)/im.exec(message)?.[1] ?? '0'
        const reply = (status: string, head = '', body = ''): void => {
          const length = body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`
          socket.write(`RTSP/1.0 ${status}\r\nCSeq: ${number}\r\n${head}${length}\r\n${body}`)
        }
        const authorization = /^authorization: *(.*)$/im.exec(message)?.[1]?.trim() ?? ''
        const isProtected = kind === 'basic' || kind === 'digest'
        if (!isProtected || isAuthorised(kind, method, authorization)) answer(method, uri, kind, reply)
        else reply('401 Unauthorized', `WWW-Authenticate: ${challengeOf(kind)}\r\n`)
      }
    })
  })
