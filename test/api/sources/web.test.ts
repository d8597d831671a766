import { createServer, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { serve } from '../../support/sources/audio-server.ts'
import { pullOnce } from '../../support/sources/pulling.ts'

const recording = (...uris: ReadonlyArray<string>): string =>
  `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${uris.map((uri) => `#EXTINF:1,\n${uri}\n`).join('')}#EXT-X-ENDLIST\n`

/** Serves raw answers by path, as servers send them that are not quite HTTP. */
const serveRaw = async (t: ExecutionContext, answers: Readonly<Record<string, ReadonlyArray<Buffer | string>>>) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.setNoDelay(true)
    const send = ([part, ...rest]: ReadonlyArray<Buffer | string>): void => {
      if (part === undefined) socket.end()
      // Each part is a packet of its own.
      else socket.write(part, () => setImmediate(send, rest))
    }
    socket.once('data', (request) => {
      const [, path = ''] = /^GET \/(\S*) /.exec(request.toString('latin1')) ?? []
      send(answers[path] ?? ['HTTP/1.0 404 Not Found\r\n\r\n'])
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return (path: string): string => `http://127.0.0.1:${port}/${path}`
}

const titled = (text: string): Buffer => {
  const length = Math.ceil(Buffer.byteLength(text) / 16)
  return Buffer.concat([Buffer.from([length]), Buffer.from(text.padEnd(length * 16, '\0'))])
}

test('a radio station that answers ICY 200 OK is played, without the titles inside its sound', async (t) => {
  const station = ['ICY 200 OK\r\nicy-notice1:<BR>caf\xe9\r\ncontent-type:audio/mpeg\r\nicy-metaint:8\r\n\r\n']
  const sound = [Buffer.from('12345678'), titled("StreamTitle='a';"), Buffer.from('abcdefgh\0'), Buffer.from('ABC')]
  const url = await serveRaw(t, {
    stream: [...station, ...sound],
    slow: ['I', 'CY', ' 200 OK\r\n\r\n', 'sound'],
    icecast: ['HTTP/1.0 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n', 'ICY sound'],
    moved: ['HTTP/1.0 302 Found\r\nLocation: /stream\r\n\r\n'],
    away: ['ICY 302 Found\r\nLocation: http://127.0.0.3:9/stream\r\n\r\n'],
    nothing: ['ICY'],
    refused: ['ICY 401 Service Unavailable\r\n\r\n'],
  })
  const played = async (path: string) => {
    const { code, bytes } = await pullOnce(url(path))
    return [code, bytes.toString('latin1')]
  }
  t.deepEqual(await played('stream'), ['closed', '12345678abcdefghABC'])
  t.deepEqual(await played('slow'), ['closed', 'sound'])
  t.deepEqual(await played('icecast'), ['closed', 'ICY sound'])
  t.deepEqual(await played('moved'), ['closed', '12345678abcdefghABC'])
  t.deepEqual(await played('away'), ['address_forbidden', ''])
  t.deepEqual(await played('nothing'), ['bad_answer', ''])
  t.deepEqual(await played('refused'), ['http_401', ''])
})

test('a list of stations plays the first entry that plays; an entry is no list, and obeys every rule', async (t) => {
  const lists: Readonly<Record<string, string>> = {
    'a.pls': '[playlist]\nNumberOfEntries=3\nFile1=/gone\nTitle1=x\nFile2=/radio\nLength2=-1\nFile3=/other\n',
    'a.m3u': '#EXTM3U\r\n#EXTINF:-1,Radio 1\r\n/hls.m3u8\r\n',
    'plain.m3u': 'http://127.0.0.3:9/x\nfile:///etc/passwd\n/radio\n',
    'forbidden.pls': '[playlist]\nFile1=http://127.0.0.3:9/a.ts\n',
    'loop.m3u': '#EXTM3U\n/loop.m3u\n/a.pls\n',
    'empty.m3u': '#EXTM3U\n',
    'hls.m3u8': recording('0.ts'),
  }
  const server = await serve(t, (request, response) => {
    const path = (request.url ?? '').slice(1)
    if (path === 'gone') response.writeHead(404).end()
    else response.end(lists[path] ?? `[${path}]`)
  })
  const played = async (path: string) => {
    const { code, bytes } = await pullOnce(server.url(path))
    return [code, bytes.toString()]
  }
  t.deepEqual(await played('a.pls'), ['complete', '[radio]'])
  t.deepEqual(await played('a.m3u'), ['complete', '[0.ts]'])
  t.deepEqual(await played('plain.m3u'), ['complete', '[radio]'])
  t.deepEqual(await played('forbidden.pls'), ['address_forbidden', ''])
  const before = server.requests.length
  t.deepEqual(await played('loop.m3u'), ['bad_playlist', ''])
  t.is(server.requests.length - before, 3)
  t.deepEqual(await played('empty.m3u'), ['bad_playlist', ''])
})

const master = (...lines: ReadonlyArray<string>): string => `#EXTM3U\n${lines.join('\n')}\n`
const media = (attributes: string): string => `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",${attributes}`
const variant = (attributes: string, uri: string): string => `#EXT-X-STREAM-INF:BANDWIDTH=${attributes}\n${uri}`
const GAP = '#EXT-X-GAP\n#EXTINF:1,\ngone\n'

/** Playlists by kind. Only `right` is the wanted audio. */
const PLAYLISTS: Readonly<Record<string, string>> = {
  'the default audio is in the variant itself': master(
    media('NAME="x",DEFAULT=YES'), media('NAME="y",URI="other.m3u8"'), variant('1,AUDIO="a"', 'right.m3u8'),
  ),
  'the smallest variant has only pictures': master(
    variant('1,CODECS="avc1.4d401e"', 'other.m3u8'), variant('2,CODECS="avc1.4d401e,mp4a.40.2"', 'right.m3u8'),
  ),
  'the first of two redundant variants is gone': master(variant('1', 'gone'), variant('1', 'right.m3u8')),
  'the segments of the first variant are gone': master(variant('1', 'dead.m3u8'), variant('1', 'right.m3u8')),
  'three segments are declared gaps': `#EXTM3U\n#EXT-X-TARGETDURATION:1\n${GAP.repeat(3)}#EXTINF:1,\nright\n${GAP}`
    + '#EXT-X-ENDLIST\n',
  'addresses contain a variable': '#EXTM3U\n#EXT-X-DEFINE:NAME="a",VALUE="right"\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n'
    + '{$a}\n#EXT-X-ENDLIST\n',
  'one of several languages is that of the session': master(
    media('NAME="x",LANGUAGE="en",DEFAULT=YES,URI="other.m3u8"'),
    media('NAME="y",LANGUAGE="fra",AUTOSELECT=YES,URI="right.m3u8"'), variant('1,AUDIO="a"', 'other.m3u8'),
  ),
}

for (const [kind, playlist] of Object.entries(PLAYLISTS))
  test(`HLS plays the wanted audio where ${kind}`, async (t) => {
    const server = await serve(t, (request, response) => {
      const path = (request.url ?? '').slice(1)
      if (path.startsWith('gone')) return void response.writeHead(404).end()
      response.end({
        master: playlist, 'right.m3u8': recording('right'), 'other.m3u8': recording('other'),
        'dead.m3u8': recording('gone0', 'gone1', 'gone2'),
      }[path] ?? path)
    })
    const { code, bytes } = await pullOnce(server.url('master'), { language: 'fr' })
    t.deepEqual([code, bytes.toString()], ['complete', 'right'])
  })

test('bodies that are compressed without being asked are inflated, within the limits', async (t) => {
  const server = await serve(t, (request, response) => {
    const path = (request.url ?? '').slice(1)
    const body = {
      'a.m3u8': recording('0.ts', '1.ts'), '0.ts': 'zero', 'bomb.m3u8': `#EXTM3U\n#${'0'.repeat(32 << 20)}`,
    }[path]
    const encoding = path === 'br.m3u8' ? 'br' : 'gzip'
    const whole = body === undefined ? Buffer.from('no gzip') : gzipSync(body)
    const bytes = path === '1.ts' ? gzipSync('one').subarray(0, 9) : whole
    response.writeHead(200, { 'content-encoding': encoding }).end(bytes)
  })
  const cut = await pullOnce(server.url('a.m3u8'))
  t.deepEqual([cut.code, cut.bytes.toString()], ['bad_answer', 'zero'], 'the second segment is cut')
  t.like(await pullOnce(server.url('bomb.m3u8')), { code: 'too_large', retry: false })
  t.is((await pullOnce(server.url('br.m3u8'))).code, 'bad_answer')
  t.is((await pullOnce(server.url('other'))).code, 'bad_answer')
})

test('cookies go back to the origin that has set them, in this pull only', async (t) => {
  const seen: Array<string> = []
  const note = (name: string, cookie: string | undefined): void => void seen.push(`${name} ${cookie ?? '-'}`)
  const other = await serve(t, (request, response) => {
    note('other', request.headers.cookie)
    response.writeHead(200, { 'set-cookie': 'theirs=1' }).end('other')
  })
  const server = await serve(t, (request, response) => {
    const path = (request.url ?? '').slice(1)
    note(path, request.headers.cookie)
    const first = ['a=1; Path=/; HttpOnly', 'b="x y"; Domain=other']
    if (path === 'start') response.writeHead(302, { location: '/a.m3u8', 'set-cookie': first }).end()
    else if (path === 'a.m3u8')
      response.writeHead(200, { 'set-cookie': 'a=2' }).end(recording('0.ts', other.url('1.ts'), '2.ts', '3.ts'))
    else if (path === '2.ts')
      response.writeHead(200, { 'set-cookie': ['a=; Max-Age=0', 'b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'] }).end('2')
    else response.end(path)
  })
  t.is((await pullOnce(server.url('start'))).code, 'complete')
  t.deepEqual(seen, ['start -', 'a.m3u8 a=1; b="x y"', '0.ts b="x y"; a=2', 'other -', '2.ts b="x y"; a=2', '3.ts -'])
  await pullOnce(server.url('start'))
  t.is(seen[6], 'start -')
})

test('a long segment whose connection breaks is continued where it broke', async (t) => {
  const segment = Buffer.from(Array.from({ length: 3 << 20 }, (_, index) => index % 251))
  let breaks = 0
  const server = await serve(t, (request, response) => {
    if (request.url === '/a.m3u8') return void response.end(recording('0.ts'))
    response.writeHead(200, { 'content-length': segment.length })
    breaks += 1
    if (breaks > 2) response.end(segment)
    else response.write(segment.subarray(0, breaks << 20), () => response.destroy())
  })
  const { code, bytes } = await pullOnce(server.url('a.m3u8'))
  t.is(code, 'complete')
  t.true(bytes.equals(segment))
  t.is(breaks, 3)
})

test('what never was a playlist ends at once; a playlist that breaks later is tried again', async (t) => {
  let loads = 0
  const server = await serve(t, (request, response) => {
    loads += 1
    if (request.url === '/live.m3u8' && loads === 1)
      response.end('#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0.ts\n')
    else if (request.url === '/master.m3u8') response.end('#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nbad.m3u8\n')
    else response.end('#EXTM3U\n#EXT-X-TARGETDURATION:x\n')
  })
  t.like(await pullOnce(server.url('live.m3u8')), { code: 'bad_playlist', retry: true })
  t.like(await pullOnce(server.url('bad.m3u8')), { code: 'bad_playlist', retry: false })
  t.like(await pullOnce(server.url('master.m3u8')), { code: 'bad_playlist', retry: false })
  t.like(await pullOnce(server.url('bad.m3u8'), { after: 3 }), { code: 'bad_playlist', retry: true })
})
