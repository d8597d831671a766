import test from 'ava'
import { decodeAmf, encodeAmf } from '../../../../infrastructure/sources/rtmp/amf0.ts'
import { createAuthentication, credentialsOf } from '../../../../infrastructure/sources/network/authentication.ts'
import { createMessageReader } from '../../../../infrastructure/sources/rtmp/rtmp-messages.ts'
import { parseRtp } from '../../../../infrastructure/sources/rtsp/rtp-packets.ts'
import { parseSdp } from '../../../../infrastructure/sources/rtsp/sdp.ts'

test('RTMP: interleaved chunks are reassembled, and every header type carries its timestamp', async (t) => {
  const header = (
    kind: number,
    stream: number,
    ...fields: ReadonlyArray<readonly [size: number, value: number]>
  ): Buffer =>
    Buffer.concat([
      Buffer.from([(kind << 6) | stream]),
      ...fields.map(([size, value]) => Buffer.from(value.toString(16).padStart(2 * size, '0'), 'hex')),
    ])
  const [stream, audio] = [[4, 0x01000000], [1, 8]] as const
  const bytes = Buffer.concat([
    header(0, 4, [3, 1000], [3, 130], audio, stream),
    Buffer.alloc(128, 'a'),
    header(0, 5, [3, 7], [3, 1], [1, 9], stream),
    Buffer.from('v'),
    header(3, 4),
    Buffer.from('aa'),
    header(1, 4, [3, 20], [3, 1], audio),
    Buffer.from('b'),
    header(2, 4, [3, 30]),
    Buffer.from('c'),
    header(3, 4),
    Buffer.from('d'),
    header(0, 4, [3, 0xffffff], [3, 130], audio, stream, [4, 0x01000000]),
    Buffer.alloc(128, 'e'),
    header(3, 4, [4, 0x01000000]),
    Buffer.from('ee'),
    header(0, 4, [3, 5], [3, 150], audio, stream),
    Buffer.alloc(150, 'f'),
  ])
  let at = 0
  const exactly = async (size: number): Promise<Buffer> => bytes.subarray(at, (at += size))
  const messages = createMessageReader({ exactly, peek: exactly, until: async () => Buffer.alloc(0) })
  const messagesSent: Array<readonly [type: number, timestamp: number, payload: string]> = []
  while (at < bytes.length) {
    const { type, timestamp, payload } = await messages.next()
    messagesSent.push([type, timestamp, payload.toString()])
    if (messagesSent.length === 6) messages.setChunkSize(4096)
  }
  t.deepEqual(messagesSent, [
    [9, 7, 'v'],
    [8, 1000, 'a'.repeat(130)],
    [8, 1020, 'b'],
    [8, 1050, 'c'],
    [8, 1080, 'd'],
    [8, 0x01000000, 'e'.repeat(130)],
    [8, 5, 'f'.repeat(150)],
  ])
})

test('AMF0: every value type is parsed; truncated or deeply nested data is refused', (t) => {
  const about = new Map<string, number | boolean>([['a', true], ['b', -2.5]])
  t.deepEqual(decodeAmf(encodeAmf(['text', 1, null, about])), ['text', 1, null, about])
  const otherTypes = Buffer.from(
    '\x08\0\0\0\x01\0\x01k\x06\0\0\x09\x0a\0\0\0\x02\x01\x01\x05\x0b\0\0\0\0\0\0\0\0\0\0\x0c\0\0\0\x02hi',
    'latin1',
  )
  t.deepEqual(decodeAmf(otherTypes), [new Map([['k', null]]), [true, null], 0, 'hi'])
  for (const bad of [
    '\x02\0\x09hi',
    '\x00\0',
    '\x0a\xff\xff\xff\xff\x05',
    '\x11',
    '\x03\0\x01a',
    '\x0a\0\0\0\x01'.repeat(20),
  ])
    t.throws(() => decodeAmf(Buffer.from(bad, 'latin1')), { message: 'bad_answer' })
})

test('credentials: RFC 7616 decides which challenge is answered and how often', (t) => {
  const credentials = credentialsOf(new URL('rtsp://Mufasa:Circle%20of%20%22Life%zz@h/'))
  t.deepEqual(credentials, { user: 'Mufasa', password: 'Circle%20of%20%22Life%zz' }, 'undecodable text stays unchanged')
  const authentication = createAuthentication({ user: 'Mu"fasa', password: 'x' })
  t.is(authentication.authorization('GET', '/'), null)
  const challenges = [
    'Digest realm="a, \\"b\\"", nonce="n", algorithm=MD5',
    'Basic realm="r", Digest realm="r", nonce="m", qop="auth-int, auth", algorithm=SHA-256, opaque="o"',
  ]
  t.true(authentication.challenged(challenges))
  t.regex(
    authentication.authorization('GET', '/a') ?? '',
    new RegExp(
      '^Digest username="Mu\\\\"fasa", realm="r", nonce="m", uri="/a", response="[0-9a-f]{64}", ' +
        'algorithm=SHA-256, opaque="o", qop=auth, nc=00000001, cnonce="[0-9a-f]{16}"$',
    ),
  )
  t.regex(authentication.authorization('GET', '/a') ?? '', /nc=00000002/)
  t.true(authentication.challenged(['Digest realm="r", nonce="k", stale=TRUE']))
  t.regex(authentication.authorization('GET', '/a') ?? '', /nonce="k"/)
  t.false(authentication.challenged(['Digest realm="r", nonce="l"']), 'a repeated challenge is no new challenge')
  t.false(
    createAuthentication({ user: 'a', password: 'b' }).challenged([
      'Digest realm="r", nonce="n", algorithm=MD5-sess',
      'Bearer x',
    ]),
  )
  t.false(createAuthentication(null).challenged(['Basic realm="r"']))
})

test('SDP: the audio is found with its format; addresses are ignored', (t) => {
  const { control, audio } = parseSdp(
    'v=0\nc=IN IP4 10.0.0.1\na=control:*\nm=video 0 RTP/AVP 97\na=control:v\n' +
      'm=audio 9 RTP/AVP 8 96 97 300\r\na=rtpmap:96 opus/48000/2\r\n' +
      'a=fmtp:96 useinbandfec=1; x = y\r\na=control:a\r\nm=audio 0 RTP/AVP 0\na=inactive\n',
  )
  t.is(control, '*')
  t.deepEqual(audio, [
    {
      control: 'a',
      direction: null,
      isEncrypted: false,
      formats: [
        { payloadType: 8, encoding: 'PCMA', clockRate: 8000, channels: 1, parameters: new Map() },
        {
          payloadType: 96,
          encoding: 'OPUS',
          clockRate: 48_000,
          channels: 2,
          parameters: new Map([['useinbandfec', '1'], ['x', 'y']]),
        },
      ],
    },
  ])
})

test('SDP: a direction of the session is that of each medium without one; inactive media are left out', (t) => {
  const { audio } = parseSdp(
    'v=0\na=recvonly\nm=audio 0 RTP/AVP 0\nm=audio 0 RTP/AVP 0\na=sendonly \n' +
      'm=audio 0 RTP/AVP 0\na=inactive\nm=audio 0 RTP/AVP 0\na=sendrecv\n',
  )
  t.deepEqual(audio.map(({ direction }) => direction), ['recvonly', 'sendonly', 'sendrecv'])
})

test('RTP: extensions, sources and padding are removed; wrong lengths give no packet', (t) => {
  const packet = (flags: number, rest: string): Buffer =>
    Buffer.concat([Buffer.from([flags, 0x80 | 96, 0, 7, 0, 0, 0, 9, 1, 2, 3, 4]), Buffer.from(rest, 'latin1')])
  t.deepEqual(parseRtp(packet(0xb1, 'csrc\0\0\0\x01exttbody\0\0\x03')), {
    payloadType: 96,
    marker: true,
    sequence: 7,
    timestamp: 9,
    payload: Buffer.from('body'),
  })
  for (const [flags, rest] of [
    [0x40, 'x'],
    [0x90, '\0\0\xff\xff'],
    [0x90, '\0'],
    [0xa0, '\x09'],
    [0x8f, ''],
  ] as const)
    t.is(parseRtp(packet(flags, rest)), null)
})
