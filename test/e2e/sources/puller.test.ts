import type { ServerResponse } from 'node:http'
import test from 'ava'
import { readableMp4 } from '../../../infrastructure/sources/http/mp4-file.ts'
import { pullSource } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'
import { filesOf, packageSample, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import type { Packaging } from '../../support/sources/audio-server.ts'
import { startPulling } from '../../support/sources/pulling.ts'
import { challengeOf, isAuthorised, SECRET } from '../../support/sources/rtsp-server.ts'

const SECONDS = 7
const COMPLETE = { kind: 'complete' } as const

const kinds: ReadonlyArray<readonly [Packaging, string]> = [
  ['ts', 'index.m3u8'],
  ['fmp4', 'index.m3u8'],
  ['aes', 'index.m3u8'],
  ['mp3', 'audio.mp3'],
  ['m4a', 'audio.m4a'],
  ['late', 'audio.m4a'],
]

for (const [packaging, file] of kinds)
  withFfmpeg(`${packaging}: the whole source is transcribed, then it ends`, async (t) => {
    const server = await serve(t, filesOf(await packageSample(t, packaging, SECONDS)))
    const pulling = startPulling(t)
    t.deepEqual(await pulling.pull({ url: server.url(file) }), COMPLETE)
    t.true(Math.abs(pulling.seconds() - SECONDS) < 0.2, `${pulling.seconds()} s`)
    // Where it begins is told before any segment is whole.
    t.deepEqual([pulling.heard[0], pulling.heard.at(-1)], file === 'index.m3u8' ? [-1, 3] : [undefined, undefined])
  })

/** A box with a length of 32 bits, or with the one that is given. */
const box = (type: string, body: Buffer | ReadonlyArray<Buffer> = [], size?: number): Buffer => {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.concat(body)
  const head = Buffer.alloc(8)
  head.writeUInt32BE(size ?? bytes.length + 8, 0)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, bytes])
}

/** A box with a length of 64 bits. */
const longBox = (type: string, body: Buffer, size = BigInt(body.length + 16)): Buffer => {
  const length = Buffer.alloc(8)
  length.writeBigUInt64BE(size)
  return box(type, [length, body], 1)
}

const table = (type: 'stco' | 'co64', ...offsets: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(8 + offsets.length * 8)
  bytes.writeUInt32BE(offsets.length, 4)
  offsets.forEach((offset, index) =>
    type === 'stco'
      ? bytes.writeUInt32BE(offset, 8 + index * 4)
      : bytes.writeBigUInt64BE(BigInt(offset), 8 + index * 8),
  )
  return box(type, bytes.subarray(0, 8 + offsets.length * (type === 'stco' ? 4 : 8)))
}

const indexOf = (...tables: ReadonlyArray<Buffer>): Buffer =>
  box('moov', [
    box('mvhd', Buffer.alloc(4)),
    ...tables.map((one) => box('trak', box('mdia', box('minf', box('stbl', one))))),
  ])

interface Asked {
  /** What its server says of the length, null for nothing. */
  readonly size?: number | null
  readonly ranges?: boolean
  /** Bytes of each of the body's pieces. */
  readonly piece?: number
  /** What ranges are of, where that is another file. */
  readonly other?: Buffer
}

/** What a reader makes of a file, or why not, and what it asked for. */
const read = async (file: Buffer, { size = file.length, ranges = true, piece = 7, other = file }: Asked = {}) => {
  const asked: Array<number> = []
  const pieces: Array<Buffer> = []
  const body = async function* (): AsyncGenerator<Buffer> {
    for (let at = 0; at < file.length; at += piece) yield file.subarray(at, at + piece)
  }
  const source = {
    body: body(), size, note: () => undefined,
    range: async ({ offset, length }: { offset: number; length: number }) => {
      asked.push(offset)
      return ranges && offset < other.length
        ? { url: new URL('http://a.example'), bytes: other.subarray(offset, offset + length), total: other.length }
        : null
    },
  }
  try {
    for await (const bytes of readableMp4(source)) pieces.push(bytes)
  } catch (error) {
    return { code: sourceErrorOf(error).code, asked }
  }
  return { bytes: Buffer.concat(pieces), asked }
}

test('an index at the end of a file is moved to the front with adjusted tables; the rest stays', async (t) => {
  const [first, sound] = [
    Buffer.concat([box('ftyp', Buffer.from('M4A ')), box('free')]),
    Buffer.from('sound and more sound'),
  ]
  for (const mdat of [box('mdat', sound), longBox('mdat', sound)]) {
    const begin = first.length
    const late = (by: number): Buffer =>
      indexOf(table('stco', begin + 8 + by, 3, begin + 12 + by), table('co64', begin + 16 + by))
    for (const [between, piece] of [
      [Buffer.alloc(0), 7],
      [Buffer.alloc(0), 1000],
      [box('free', Buffer.alloc(70_000)), 1000],
    ] as const) {
      const file = Buffer.concat([first, mdat, between, late(0), box('udta', Buffer.from('after'))])
      for (const asked of [{ piece }, { piece, size: null }])
        t.deepEqual((await read(file, asked)).bytes, Buffer.concat([first, late(late(0).length), mdat, between]))
    }
  }
  const early = Buffer.concat([first, indexOf(table('stco', 1)), box('mdat', sound)])
  t.deepEqual(await read(early), { bytes: early, asked: [] })
  for (const other of [
    '',
    'x',
    '\0\0\0\x03ftyp',
    '\0\0\0\x01ftyp\0\0\0\0\0\0\0\x0f',
    '\0\0\0\x01ftyp\xff\xff\xff\xff\xff\xff\xff\xff',
    '\0\0\0\0free and no end',
  ])
    t.deepEqual(await read(Buffer.from(other, 'latin1')), { bytes: Buffer.from(other, 'latin1'), asked: [] })
})

test('an unavailable or false index is a failure with a code, after few requests [S8]', async (t) => {
  const [first, mdat] = [box('ftyp'), box('mdat', Buffer.from('sound'))]
  const withIndex = (...index: ReadonlyArray<Buffer>): Buffer => Buffer.concat([first, mdat, ...index])
  const good = withIndex(indexOf(table('stco', 16)))
  const overflow = Buffer.from(table('stco', 16))
  overflow.writeUInt32BE(0xffffffff, 12)
  const tooMany = Buffer.from(table('stco', 16))
  tooMany.writeUInt32BE(0xffffffff, 12 - 8)
  const cases: ReadonlyArray<readonly [string, Buffer, Asked, string, number]> = [
    ['no ranges', good, { ranges: false }, 'no_index', 1],
    ['another file', good, { other: Buffer.concat([good, box('free')]) }, 'no_index', 1],
    ['no index', withIndex(), {}, 'no_index', 0],
    ['no index, no length', withIndex(), { size: null }, 'no_index', 1],
    ['cut off while it was written', Buffer.concat([first, box('mdat', Buffer.from('sound'), 0)]), {}, 'no_index', 0],
    ['sound beyond the end', Buffer.concat([first, box('mdat', Buffer.from('sound'), 1_000_000)]), {}, 'no_index', 0],
    [
      'sound without end',
      Buffer.concat([first, longBox('mdat', Buffer.from('sound'), 2n ** 52n)]),
      { size: null },
      'no_index',
      1,
    ],
    ['half an index', good.subarray(0, -3), {}, 'no_index', 1],
    ['a huge index', withIndex(box('moov', [], 17 << 20)), { size: null }, 'too_large', 1],
    ['an index to the end', withIndex(box('moov', table('stco', 16), 0)), { size: null }, 'no_index', 1],
    ['a box of no length', withIndex(box('free', [], 3), indexOf()), {}, 'no_index', 1],
    ['boxes without end', withIndex(...Array.from({ length: 100 }, () => box('free'))), {}, 'no_index', 16],
    ['a packed index', withIndex(box('moov', box('cmov', Buffer.from('zlib')))), {}, 'no_index', 1],
    ['a box that is larger than its own', withIndex(box('moov', box('trak', [], 100))), {}, 'no_index', 1],
    ['an offset beyond 32 bits', withIndex(indexOf(table('stco', 0xfffffff0))), {}, 'no_index', 1],
    [
      'a table that is too short',
      withIndex(indexOf(box('stco', Buffer.from([0, 0, 0, 0, 255, 255, 255, 255])))),
      {},
      'no_index',
      1,
    ],
  ]
  for (const [name, file, how, code, requests] of cases) {
    const { code: ended, asked } = await read(file, how)
    t.deepEqual([ended, asked.length], [code, requests], name)
  }
  const deep = Array.from({ length: 10_000 }).reduce<Buffer>((inner) => box('free', inner), Buffer.alloc(0))
  t.is((await read(withIndex(box('moov', deep)))).code, undefined, 'what holds no tables is not looked into')
})

const USER = `${SECRET.user}:${encodeURIComponent(SECRET.password)}@`

/** How one attempt ends that needs no decoder. */
const codeOf = async (url: string, rules = { allow: ['127.0.0.1/32'], ownPort: null }): Promise<string> => {
  const sink = {
    bytes: async () => undefined,
    stretchEnds: async () => undefined,
    segment: () => undefined,
    targetDuration: () => undefined,
  }
  return pullSource({ url, after: null, rules }, sink, new AbortController().signal).then(
    () => 'complete',
    (error: unknown) => sourceErrorOf(error).code,
  )
}

test('http: Basic and Digest are answered on request, once per server; endless challenges stop', async (t) => {
  const seen: Array<string> = []
  const elsewhere = await serve(t, (request, response) => {
    seen.push(`elsewhere ${request.headers.authorization?.split(' ')[0] ?? 'nobody'}`)
    response.writeHead(401, { 'www-authenticate': challengeOf('digest') }).end()
  })
  let questions = 0
  const server = await serve(t, (request, response) => {
    const [, kind = ''] = (request.url ?? '').split('/')
    const authorization = request.headers.authorization ?? ''
    seen.push(`${kind} ${authorization.split(' ')[0] ?? ''}`.trim())
    questions += 1
    const flood = {
      stale: `Digest realm="r", nonce="${questions}", stale=true`,
      realms: `Digest realm="${questions}", nonce="n"`,
      basic2: `Basic realm="${questions}"`,
    }[kind]
    if (flood !== undefined) response.writeHead(401, { 'www-authenticate': flood }).end()
    else if (!isAuthorised(kind === 'basic' ? 'basic' : 'digest', 'GET', authorization))
      response.writeHead(401, { 'www-authenticate': challengeOf(kind) }).end('no')
    else if (request.url?.endsWith('moved') === true) response.writeHead(302, { location: elsewhere.url('x') }).end()
    else if (request.url?.endsWith('forbidden') === true)
      response.writeHead(302, { location: 'http://127.0.0.3:9/x' }).end()
    else
      response.end(
        request.url?.endsWith('.m3u8') === true
          ? '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts?a="b"\n#EXTINF:1,\n1.ts\n#EXT-X-ENDLIST\n'
          : 'some bytes of sound',
      )
  })
  const asked = async (path: string, user = USER) => {
    const before = seen.length
    return [await codeOf(server.url(path).replace('://', `://${user}`)), ...seen.slice(before)]
  }
  t.deepEqual(await asked('basic/a'), ['complete', 'basic', 'basic Basic'])
  t.deepEqual(await asked('digest/index.m3u8'), [
    'complete',
    'digest',
    'digest Digest',
    'digest Digest',
    'digest Digest',
  ])
  t.deepEqual(await asked('digest/a', ''), ['http_401', 'digest'])
  t.deepEqual(await asked('digest/a', `${SECRET.user}:x@`), ['http_401', 'digest', 'digest Digest'])
  t.deepEqual(
    await asked('digest/moved'),
    ['http_401', 'digest', 'digest Digest', 'elsewhere nobody'],
    'what was given for one server is for no other',
  )
  t.deepEqual(await asked('digest/forbidden'), ['address_forbidden', 'digest', 'digest Digest'])
  for (const kind of ['stale', 'realms'])
    t.deepEqual(await asked(`${kind}/a`), ['http_401', kind, `${kind} Digest`, `${kind} Digest`])
  t.deepEqual(await asked('basic2/a'), ['http_401', 'basic2', 'basic2 Basic', 'basic2 Basic'])
  t.deepEqual(await asked('digest/a', 'a%0ab:c@'), ['unsupported'])
})

test('index range requests follow the same rules: allowed addresses, three redirects, the exact size [S3]', async (t) => {
  const file = Buffer.concat([box('ftyp'), box('mdat', Buffer.from('some sound')), indexOf(table('stco', 16))])
  const answers: Readonly<Record<string, (response: ServerResponse, from: number) => void>> = {
    forbidden: (response) => response.writeHead(302, { location: 'http://127.0.0.3:9/x' }).end(),
    scheme: (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    loop: (response) => response.writeHead(302, { location: '/loop' }).end(),
    whole: (response) => response.writeHead(200).end(file),
    missing: (response) => response.writeHead(416).end(),
    wrong: (response) =>
      response.writeHead(206, { 'content-range': `bytes 0-9/${file.length}` }).end(file.subarray(0, 10)),
    more: (response, from) =>
      response
        .writeHead(206, { 'content-range': `bytes ${from}-${from + 9}/${file.length}` })
        .end(Buffer.alloc(1 << 20)),
    packed: (response, from) =>
      response
        .writeHead(206, { 'content-range': `bytes ${from}-${from + 9}/${file.length}`, 'content-encoding': 'gzip' })
        .end(Buffer.alloc(10)),
    good: (response, from) =>
      response
        .writeHead(206, { 'content-range': `bytes ${from}-${file.length - 1}/${file.length}` })
        .end(file.subarray(from)),
  }
  const server = await serve(t, (request, response) => {
    const [, from] = /^bytes=(\d+)-/.exec(request.headers.range ?? '') ?? []
    if (from === undefined) response.writeHead(200, { 'content-length': file.length }).end(file)
    else answers[(request.url ?? '').slice(1)]?.(response, Number(from))
  })
  for (const [path, code] of Object.entries({
    forbidden: 'address_forbidden',
    scheme: 'scheme_forbidden',
    loop: 'too_many_redirects',
    whole: 'no_index',
    missing: 'no_index',
    wrong: 'no_index',
    more: 'too_large',
    packed: 'bad_answer',
    good: 'complete',
  }))
    t.is(await codeOf(server.url(path)), code, path)
  t.is(server.requests.length, 2 * 9 + 3)
})
