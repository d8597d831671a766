import type { ServerResponse } from 'node:http'
import test from 'ava'
import { pullSource } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'
import { filesOf, packageSample, serve, withFfmpeg, type Packaging } from '../../support/sources/audio-server.ts'
import { IGNORING_SINK, startPulling } from '../../support/sources/pulling.ts'
import { challengeOf, isAuthorised, SECRET } from '../../support/sources/rtsp-server.ts'
import { box, indexOf, table } from '../../support/sources/mp4-boxes.ts'

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
  withFfmpeg(`${packaging}: the whole source is delivered, then the pull ends`, async (t) => {
    const server = await serve(t, filesOf(await packageSample(t, packaging, SECONDS)))
    const pulling = startPulling(t)
    t.deepEqual(await pulling.pull({ url: server.url(file) }), COMPLETE)
    t.true(Math.abs(pulling.seconds() - SECONDS) < 0.2, `${pulling.seconds()} s`)
    // The start is reported before the first segment is complete.
    const firstAndLast = [pulling.delivered[0], pulling.delivered.at(-1)]
    t.deepEqual(firstAndLast, file === 'index.m3u8' ? [-1, 3] : [undefined, undefined])
  })

const USER = `${SECRET.user}:${encodeURIComponent(SECRET.password)}@`

/** Runs one attempt without a decoder and returns the code of its end. */
const codeOf = async (url: string, rules = { allow: ['127.0.0.1/32'], ownPort: null }): Promise<string> => {
  return pullSource({ url, after: null, rules }, IGNORING_SINK, new AbortController().signal).then(
    () => 'complete',
    (error: unknown) => sourceErrorOf(error).code,
  )
}

test('http credentials are sent only on request and to their server; repeated challenges end the pull', async (t) => {
  const seen: Array<string> = []
  const elsewhere = await serve(t, (request, response) => {
    seen.push(`elsewhere ${request.headers.authorization?.split(' ')[0] ?? 'anonymous'}`)
    response.writeHead(401, { 'www-authenticate': challengeOf('digest') }).end()
  })
  let challenges = 0
  const server = await serve(t, (request, response) => {
    const [, kind = ''] = (request.url ?? '').split('/')
    const authorization = request.headers.authorization ?? ''
    seen.push(`${kind} ${authorization.split(' ')[0] ?? ''}`.trim())
    challenges += 1
    const flood = {
      stale: `Digest realm="r", nonce="${challenges}", stale=true`,
      realms: `Digest realm="${challenges}", nonce="n"`,
      basic2: `Basic realm="${challenges}"`,
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
  const requestsOf = async (path: string, user = USER) => {
    const before = seen.length
    return [await codeOf(server.url(path).replace('://', `://${user}`)), ...seen.slice(before)]
  }
  t.deepEqual(await requestsOf('basic/a'), ['complete', 'basic', 'basic Basic'])
  t.deepEqual(await requestsOf('digest/index.m3u8'), [
    'complete',
    'digest',
    'digest Digest',
    'digest Digest',
    'digest Digest',
  ])
  t.deepEqual(await requestsOf('digest/a', ''), ['http_401', 'digest'])
  t.deepEqual(await requestsOf('digest/a', `${SECRET.user}:x@`), ['http_401', 'digest', 'digest Digest'])
  t.deepEqual(
    await requestsOf('digest/moved'),
    ['http_401', 'digest', 'digest Digest', 'elsewhere anonymous'],
    'credentials of one server are not sent to another server',
  )
  t.deepEqual(await requestsOf('digest/forbidden'), ['address_forbidden', 'digest', 'digest Digest'])
  for (const kind of ['stale', 'realms'])
    t.deepEqual(await requestsOf(`${kind}/a`), ['http_401', kind, `${kind} Digest`, `${kind} Digest`])
  t.deepEqual(await requestsOf('basic2/a'), ['http_401', 'basic2', 'basic2 Basic', 'basic2 Basic'])
  t.deepEqual(await requestsOf('digest/a', 'a%0ab:c@'), ['unsupported'])
})

test('requests for the index of an audio file obey the rules for addresses, redirects and size', async (t) => {
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
  // Each path is requested twice: the file, then its index. The loop is followed three times.
  t.is(server.requests.length, 2 * 9 + 3)
})
