import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { startAttempt } from '../../infrastructure/sources/attempt.ts'
import { filesOf, packageSample, serve, withFfmpeg } from '../support/audio-server.ts'
import { hostileSite, listenForbidden } from '../support/hostile-sources.ts'

const onLinux = process.platform === 'linux' ? withFfmpeg : test.skip

const ALLOWED = '127.0.0.2'
const AT_ONCE = 6

/** One attempt with a decoder that has a network, so that a contact by FFmpeg would be seen as well. */
const attempt = async (url: string, allow: ReadonlyArray<string> = [`${ALLOWED}/32`], ownPort: number | null = null) => {
  let bytes = 0
  const command = { url, mediaSequence: null, rules: { allow, ownPort }, isolate: false }
  const end = await startAttempt(command, async (frame) => { bytes += frame[0] === 0 ? frame.length - 5 : 0 }).done
  return { seconds: bytes / 32_000, end: end.kind === 'failed' ? end.code : end.kind }
}

onLinux('S3, S4, S7: a hostile site makes no contact with a forbidden address, in any position of any playlist', async (t) => {
  t.timeout(600_000)
  const forbidden = await listenForbidden(t, '127.0.0.3')
  const folder = await packageSample(t, 'ts', 7)
  const site = hostileSite(forbidden, await readFile(join(folder, 'index0.ts')))
  const server = await serve(t, site.listener, ALLOWED)
  t.true(site.paths.length > 250)

  const waiting = [...site.paths]
  const codes = new Map<string, string>()
  const worker = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) codes.set(path, (await attempt(server.url(path))).end)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  t.deepEqual(forbidden.contacts, [])
  // A text between two stretches of audio is noise to the decoder.
  const played = [...codes].filter(([, code]) => code === 'complete').map(([path]) => path)
  t.deepEqual(played.filter((path) => !path.endsWith('/nested')), [], 'nothing hostile looks as if it had played')
  for (const path of ['second/http', 'only/mapped', 'key/hex', 'map/decimal', 'variant/dotted', 'rendition/userinfo', 'redirect/http/302', 'second/redirected'])
    t.is(codes.get(path), 'address_forbidden', path)
  for (const path of ['second/file', 'key/file', 'map/concat', 'variant/gopher', 'rendition/rtsp', 'redirect/rtmp/307', 'only/data']) t.is(codes.get(path), 'scheme_forbidden', path)
  for (const path of ['a.mpd', 'a.ffconcat', 'a.sdp', 'a.xspf', 'a.pls', 'a.late.m3u8']) t.is(codes.get(path), 'not_audio', path)

  const plays = await serve(t, filesOf(folder), ALLOWED)
  const control = await attempt(plays.url('index.m3u8'))
  t.is(control.end, 'complete')
  t.true(control.seconds > 5, 'the positive control plays')
})

onLinux('S1, S5: nothing but http and https is pulled, and no forbidden address by its own URL', async (t) => {
  const forbidden = await listenForbidden(t, '127.0.0.3')
  const at = `127.0.0.3:${forbidden.port}`
  const codeOf = async (url: string) => (await attempt(url)).end
  for (const host of [at, `2130706435:${forbidden.port}`, `0x7f.3:${forbidden.port}`, `[::ffff:7f00:3]:${forbidden.port}`, `x@${at}`, `127.0.0.3.:${forbidden.port}`])
    for (const scheme of ['http', 'https']) t.is(await codeOf(`${scheme}://${host}/a.ts`), 'address_forbidden', host)
  for (const url of [
    'file:///etc/passwd', `concat:http://${at}/a`, 'subfile,,start,0,end,0,,:/etc/passwd', 'data:audio/mpeg;base64,AAAA', `gopher://${at}/x`, `udp://${at}`,
    `tcp://${at}`, '/etc/passwd', `rtmp://${at}/live/x`, `rtsp://${at}/x`, `httpproxy://${at}/x`,
  ])
    t.is(await codeOf(url), 'unsupported', url)
  t.is(await codeOf(`http://localhost:${forbidden.port}/a`), 'address_forbidden', 'a name is judged by its addresses')
  t.deepEqual(forbidden.contacts, [])
  const own = await serve(t, (_request, response) => response.end('own'), ALLOWED)
  t.is((await attempt(own.url(''), ['127.0.0.0/8'], own.port)).end, 'address_forbidden')
  t.deepEqual(own.requests, [])
  t.is((await attempt(own.url(''), ['127.0.0.0/8'])).end, 'not_audio', 'positive control')
})
