import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startAttempt } from '../../../infrastructure/sources/puller/attempt.ts'
import { pullSource } from '../../../infrastructure/sources/puller/pull-source.ts'
import { sourceErrorOf } from '../../../infrastructure/sources/source-error.ts'
import { FFMPEG, filesOf, packageSample, serve } from '../../support/sources/audio-server.ts'
import {
  hostileRtspPaths,
  hostileSite,
  HOSTILE_RTMP_PATHS,
  listenForbidden,
} from '../../support/sources/hostile-sources.ts'
import { IGNORING_SINK } from '../../support/sources/pulling.ts'
import { serialTestWith } from '../../support/running/skip-unless.ts'
import { flvAudio, serveRtmp } from '../../support/sources/rtmp-server.ts'
import { aacAudio, serveRtsp } from '../../support/sources/rtsp-server.ts'

/** The tests run serially, because each test starts many decoders at the same time. */
const onLinux = process.platform === 'linux' ? serialTestWith(FFMPEG) : test.skip

const ALLOWED = '127.0.0.2'
const AT_ONCE = 6

/**
 * Pulls a URL once, without isolation, so a contact by FFmpeg itself would be noticed too. Returns the seconds of audio
 * and how the pull ended: an error code, or a kind such as `complete`.
 */
const attempt = async (
  url: string,
  allow: ReadonlyArray<string> = [`${ALLOWED}/32`],
  ownPort: number | null = null,
) => {
  let bytes = 0
  const command = { url, mediaSequence: null, rules: { allow, ownPort }, isolate: false }
  const end = await startAttempt(command, async (frame) => {
    bytes += frame[0] === 0 ? frame.length - 5 : 0
  }).done
  return { seconds: bytes / 32_000, end: end.kind === 'failed' ? end.code : end.kind }
}

/** Pulls each URL once. Returns by URL how the pull ended. */
const codesOf = async (urls: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>> => {
  const waiting = [...urls]
  const codes = new Map<string, string>()
  const worker = async (): Promise<void> => {
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) codes.set(url, (await attempt(url)).end)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return codes
}

/** Pulls a URL once, without a decoder and with a fixed DNS answer. Returns the error code, or `complete`. */
const withLookup = async (url: string, address: string): Promise<string> => {
  const rules = { allow: [`${ALLOWED}/32`], ownPort: null }
  const done = pullSource(
    { url, after: null, rules, lookup: async () => [{ address, family: 4 }] },
    IGNORING_SINK,
    new AbortController().signal,
  )
  return done.then(() => 'complete', (error: unknown) => sourceErrorOf(error).code)
}

onLinux('no hostile playlist causes a contact with a forbidden address', async (t) => {
  t.timeout(600_000)
  const forbidden = await listenForbidden(t, '127.0.0.3')
  const folder = await packageSample(t, 'ts', 7)
  const site = hostileSite(forbidden, await readFile(join(folder, 'index0.ts')))
  const server = await serve(t, site.listener, ALLOWED)
  t.true(site.paths.length > 320)

  const urlOf = (path: string): string =>
    server.url(path).replace('://', path.startsWith('digest/') ? '://okapi:wapiti@' : '://')
  const ends = await codesOf(site.paths.map(urlOf))
  const codes = new Map(site.paths.map((path) => [path, ends.get(urlOf(path)) ?? '']))
  t.deepEqual(forbidden.contacts, [])
  // A nested playlist between two parts of audio may play, because the decoder treats its text as noise.
  const played = [...codes].filter(([, code]) => code === 'complete').map(([path]) => path)
  t.deepEqual(played.filter((path) => !path.endsWith('/nested')), [], 'no hostile path plays')
  for (const path of [
    'second/http',
    'only/mapped',
    'key/hex',
    'map/decimal',
    'variant/dotted',
    'rendition/userinfo',
    'variable/http',
    'station/hex',
    'pls/mapped',
    'redirect/http/302',
    'second/redirected',
    'range/http/302',
    'range/hex/302',
    'digest/http/302',
    'digest/userinfo/302',
    'a.pls',
  ])
    t.is(codes.get(path), 'address_forbidden', path)
  for (const path of [
    'second/file',
    'key/file',
    'map/concat',
    'variant/gopher',
    'rendition/rtsp',
    'station/rtmp',
    'pls/file',
    'redirect/rtmp/307',
    'only/data',
    'range/file/302',
    'digest/gopher/302',
  ])
    t.is(codes.get(path), 'scheme_forbidden', path)
  for (const path of ['a.mpd', 'a.ffconcat', 'a.sdp', 'a.xspf', 'a.late.m3u8'])
    t.is(codes.get(path), 'no_audio', path)

  const plays = await serve(t, filesOf(folder), ALLOWED)
  const control = await attempt(plays.url('index.m3u8'))
  t.is(control.end, 'complete')
  t.true(control.seconds > 5, 'the harmless playlist plays')
  const late = await serve(t, filesOf(await packageSample(t, 'late', 7)), ALLOWED)
  const ranges = await attempt(late.url('audio.m4a'))
  t.is(ranges.end, 'complete')
  t.true(ranges.seconds > 5, 'a file with its index at the end plays')
  t.log(
    `${site.paths.length} cases, ${forbidden.contacts.length} contacts; ` +
      `harmless: ${control.seconds.toFixed(1)} s, ${ranges.seconds.toFixed(1)} s`,
  )
})

/** Returns spellings of a forbidden address that fit any scheme. */
const spellings = (forbiddenAddress: string, port: number): ReadonlyArray<string> => [
  forbiddenAddress,
  `2130706435:${port}`,
  `0x7f.3:${port}`,
  `0177.0.0.3:${port}`,
  `127.3:${port}`,
  `[::ffff:7f00:3]:${port}`,
  `[::ffff:127.0.0.3]:${port}`,
  `x@${forbiddenAddress}`,
  `127.0.0.2@${forbiddenAddress}`,
  `127.0.0.3.:${port}`,
  `%31%32%37.0.0.3:${port}`,
  `①②⑦.0.0.3:${port}`,
  `localhost:${port}`,
]

onLinux('no hostile RTMP or RTSP server causes a contact with a forbidden address', async (t) => {
  t.timeout(600_000)
  const forbidden = await listenForbidden(t, '127.0.0.3')
  const forbiddenAddress = `127.0.0.3:${forbidden.port}`
  const messages = flvAudio(await readFile(join(await packageSample(t, 'flv', 7), 'audio.flv')))
  const audio = aacAudio(messages)
  const rtmp = await serveRtmp(t, messages, { host: ALLOWED, elsewhere: `rtmp://${forbiddenAddress}/live/x` })
  const rtsp = await serveRtsp(t, audio, { host: ALLOWED, elsewhere: forbiddenAddress })
  const hosts = spellings(forbiddenAddress, forbidden.port)
  const urls = [
    ...HOSTILE_RTMP_PATHS.map(rtmp.url), ...hostileRtspPaths(forbidden).map(rtsp.url),
    ...['rtmp', 'rtmps', 'rtsp', 'rtsps'].flatMap((scheme) => hosts.map((host) => `${scheme}://${host}/live/x`)),
  ]
  const codes = await codesOf(urls)
  t.deepEqual(forbidden.contacts, [])
  const played = [...codes]
    .filter(([, code]) => code === 'interrupted' || code === 'complete')
    .map(([url]) => url.replace(/^[^:]*:\/\/[^/]*\//, ''))
    // These are paths on the allowed server.
    .filter((path) => !/x\?(?:%2F(?!%2F)|subfile)/.test(path))
  t.deepEqual(
    played.toSorted(),
    ['bad-control', 'base', 'control', 'live/unpublished'],
    'these servers play without contacting the named addresses',
  )
  for (const host of hosts)
    for (const scheme of ['rtmp', 'rtsp'])
      t.true(
        ['address_forbidden', 'unresolved', 'unsupported'].includes(codes.get(`${scheme}://${host}/live/x`) ?? ''),
        host,
      )
  t.is(codes.get(`rtsp://${forbiddenAddress}/live/x`), 'address_forbidden')
  t.is(codes.get(rtsp.url('redirect-describe')), 'address_forbidden')
  for (const url of [rtmp.url('live/ok'), rtsp.url('ok')]) {
    const control = await attempt(url)
    t.is(control.end, 'interrupted')
    t.true(control.seconds > 5, `the harmless stream ${url} plays ${control.seconds} s`)
  }
  t.log(`${urls.length} cases, ${forbidden.contacts.length} contacts`)
  // A name is looked up once, so a second answer cannot matter.
  const addresses = ['127.0.0.2', '127.0.0.3']
  for (const server of [rtmp, rtsp]) {
    const scheme = server === rtmp ? 'rtmp' : 'rtsp'
    const outcomes: string[] = []
    for (const address of addresses)
      outcomes.push(await withLookup(`${scheme}://rebinding.example:${server.port}/live/ok`, address))
    t.deepEqual(outcomes, ['stream_over', 'address_forbidden'])
  }
  t.deepEqual(forbidden.contacts, [])
})

onLinux('only six schemes are pulled, and no forbidden address in any spelling', async (t) => {
  const forbidden = await listenForbidden(t, '127.0.0.3')
  const forbiddenAddress = `127.0.0.3:${forbidden.port}`
  const codeOf = async (url: string) => (await attempt(url)).end
  for (const host of [
    forbiddenAddress,
    `2130706435:${forbidden.port}`,
    `0x7f.3:${forbidden.port}`,
    `[::ffff:7f00:3]:${forbidden.port}`,
    `x@${forbiddenAddress}`,
    `127.0.0.3.:${forbidden.port}`,
  ])
    for (const scheme of ['http', 'https']) t.is(await codeOf(`${scheme}://${host}/a.ts`), 'address_forbidden', host)
  for (const url of [
    'file:///etc/passwd',
    `concat:http://${forbiddenAddress}/a`,
    'subfile,,start,0,end,0,,:/etc/passwd',
    'data:audio/mpeg;base64,AAAA',
    `gopher://${forbiddenAddress}/x`,
    `udp://${forbiddenAddress}`,
    `tcp://${forbiddenAddress}`,
    '/etc/passwd',
    `rtmpt://${forbiddenAddress}/live/x`,
    `rtmpe://${forbiddenAddress}/live/x`,
    `rtspu://${forbiddenAddress}/x`,
    `httpproxy://${forbiddenAddress}/x`,
  ])
    t.is(await codeOf(url), 'unsupported', url)
  t.is(
    await codeOf(`http://localhost:${forbidden.port}/a`),
    'address_forbidden',
    'a host name is checked by its addresses',
  )
  t.deepEqual(forbidden.contacts, [])
  const own = await serve(t, (_request, response) => response.end('own'), ALLOWED)
  t.is((await attempt(own.url(''), ['127.0.0.0/8'], own.port)).end, 'address_forbidden')
  t.deepEqual(own.requests, [])
  t.is((await attempt(own.url(''), ['127.0.0.0/8'])).end, 'no_audio', 'another port is allowed')
})
