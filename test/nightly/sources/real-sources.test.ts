import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { startPulling } from '../../support/sources/pulling.ts'
import {
  createApache,
  createGstreamer,
  createNginx,
  makeCertificate,
  makeVideo,
  sendTones,
  tlsInFrontOf,
  withApache,
  withGstreamer,
  withNginx,
  untilWritten,
} from '../../support/sources/real-servers.ts'
import type { Certificate, ToneSender } from '../../support/sources/real-servers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { tonesIn } from '../../support/audio/tones.ts'

const LIVE = ['-f', 'hls', '-hls_time', '1', '-hls_list_size', '8', '-hls_flags', 'delete_segments', 'index.m3u8']
const FILM_SECONDS = 20
const NONCE_SECONDS = 2
const SECRET = 'okapi:wapiti%2047@'

const secondsHeard = (t: ExecutionContext, url: string, seconds: number): Promise<void> => {
  const listening = startRetryingSource(t, url)
  return eventually(
    () =>
      assert.ok(listening.seconds() >= seconds, `${listening.seconds()} s of ${url}, ${listening.codes().join(' ')}`),
    { timeoutMs: 60_000 },
  ).then(listening.stop)
}

/** A certificate that pullers of this process trust, and one that nobody does. */
const certificates = async (t: ExecutionContext): Promise<Readonly<Record<'good' | 'bad', Certificate>>> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [good, bad] = [await makeCertificate(path, 'good'), await makeCertificate(path, 'bad')]
  process.env['NODE_EXTRA_CA_CERTS'] = good.certificate
  return { good, bad }
}

const codeOf = async (t: ExecutionContext, url: string): Promise<string> => {
  const end = await startPulling(t).pull({ url })
  return typeof end === 'string' ? end : end.kind === 'failed' ? end.code : end.kind
}

withNginx('nginx: HLS and RTMP play, over TLS only with a good certificate; Basic opens what is locked', async (t) => {
  t.timeout(600_000)
  const { good, bad } = await certificates(t)
  const nginx = await createNginx(t)
  await nginx.start()
  sendTones(t, Date.now(), ['-f', 'flv', `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`])
  sendTones(t, Date.now(), LIVE, join(nginx.root, 'secret'))
  await untilWritten(join(nginx.root, 'secret', 'index.m3u8'))
  await secondsHeard(t, `http://${SECRET}127.0.0.1:${nginx.http}/secret/index.m3u8`, 5)
  await secondsHeard(t, `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`, 5)
  await secondsHeard(t, `https://${SECRET}127.0.0.1:${await tlsInFrontOf(t, nginx.http, good)}/secret/index.m3u8`, 3)
  await secondsHeard(t, `rtmps://127.0.0.1:${await tlsInFrontOf(t, nginx.rtmp, good)}/live/tones`, 3)
  t.is(await codeOf(t, `https://127.0.0.1:${await tlsInFrontOf(t, nginx.http, bad)}/secret/index.m3u8`), 'tls')
  t.is(await codeOf(t, `rtmps://127.0.0.1:${await tlsInFrontOf(t, nginx.rtmp, bad)}/live/tones`), 'tls')
  t.is(await codeOf(t, `http://127.0.0.1:${nginx.http}/secret/index.m3u8`), 'http_401')
})

withNginx(
  'nginx: a film with its index at the end plays, also behind Basic; without ranges it is a failure that says so',
  async (t) => {
    t.timeout(600_000)
    const nginx = await createNginx(t)
    await nginx.start()
    const film = join(nginx.root, 'film.mp4')
    await makeVideo(film, FILM_SECONDS)
    for (const folder of ['secret', 'whole']) await copyFile(film, join(nginx.root, folder, 'film.mp4'))
    for (const url of [
      `http://127.0.0.1:${nginx.http}/film.mp4`,
      `http://${SECRET}127.0.0.1:${nginx.http}/secret/film.mp4`,
    ]) {
      const pulling = startPulling(t)
      t.deepEqual(await pulling.pull({ url }), { kind: 'complete' })
      t.true(Math.abs(pulling.seconds() - FILM_SECONDS) < 0.5, `${pulling.seconds()} s`)
    }
    t.is(await codeOf(t, `http://127.0.0.1:${nginx.http}/whole/film.mp4`), 'no_index')
  },
)

withApache('Apache: Digest opens what is locked, also when nonces age, and only with the right password', async (t) => {
  t.timeout(600_000)
  const apache = await createApache(t, NONCE_SECONDS)
  await apache.start()
  sendTones(t, Date.now(), LIVE, join(apache.root, 'secret'))
  await untilWritten(join(apache.root, 'secret', 'index.m3u8'))
  const at = `127.0.0.1:${apache.port}/secret/index.m3u8`
  const listening = startRetryingSource(t, `http://${SECRET}${at}`)
  await eventually(
    () =>
      assert.ok(listening.seconds() >= 5 * NONCE_SECONDS, `${listening.seconds()} s, ${listening.codes().join(' ')}`),
    { timeoutMs: 120_000 },
  )
  await listening.stop()
  t.deepEqual(listening.codes(), [])
  for (const user of ['', 'okapi:x@']) t.is(await codeOf(t, `http://${user}${at}`), 'http_401')
})

withGstreamer('GStreamer: all formats play over RTSP, over TLS only with a good certificate', async (t) => {
  t.timeout(600_000)
  const { good, bad } = await certificates(t)
  const server = await createGstreamer(t)
  await server.start()
  for (const name of ['pcmu', 'pcma', 'l16', 'mp3', 'opus', 'aac'])
    await secondsHeard(t, `rtsp://127.0.0.1:${server.port}/${name}`, name === 'aac' ? 5 : 3)
  await secondsHeard(t, `rtsps://127.0.0.1:${await tlsInFrontOf(t, server.port, good)}/aac`, 3)
  t.is(await codeOf(t, `rtsps://127.0.0.1:${await tlsInFrontOf(t, server.port, bad)}/aac`), 'tls')
  t.is(await codeOf(t, `rtsp://127.0.0.1:${server.port}/nothing`), 'rtsp_404')
})

for (const kind of ['basic', 'digest'])
  withGstreamer(`GStreamer: ${kind} opens what is locked, and only with the right password`, async (t) => {
    t.timeout(300_000)
    const server = await createGstreamer(t, { kind })
    await server.start()
    await secondsHeard(t, `rtsp://${SECRET}127.0.0.1:${server.port}/pcmu`, 3)
    t.is(await codeOf(t, `rtsp://okapi:x@127.0.0.1:${server.port}/pcmu`), 'rtsp_401')
    t.is(await codeOf(t, `rtsp://127.0.0.1:${server.port}/pcmu`), 'rtsp_401')
  })

const DOWN_MS = 5000
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds))

withNginx('the tone test: HLS whose web server is killed for 5 s loses none and repeats at most 2 s', async (t) => {
  t.timeout(600_000)
  const nginx = await createNginx(t)
  await nginx.start()
  const epoch = Date.now()
  sendTones(
    t,
    epoch,
    ['-f', 'hls', '-hls_time', '1', '-hls_list_size', '30', '-hls_flags', 'delete_segments', 'index.m3u8'],
    nginx.root,
  )
  await untilWritten(join(nginx.root, 'index.m3u8'))
  const listening = startRetryingSource(t, `http://127.0.0.1:${nginx.http}/index.m3u8`)
  await eventually(() => assert.ok(listening.seconds() >= 5), { timeoutMs: 60_000 })
  await nginx.kill()
  await pause(DOWN_MS)
  await nginx.start()
  const back = listening.seconds()
  await eventually(() => assert.ok(listening.seconds() >= back + 15, `${listening.seconds()} s`), { timeoutMs: 90_000 })
  await listening.stop()
  const tones = tonesIn(listening.samples())
  // Of the first and the last a part was never asked for; an encoder's first noise is no tone.
  const whole = [...tones].filter(([, seconds]) => seconds > 0.2).toSorted(([one], [other]) => one - other).slice(1, -1)
  t.log(`tones ${[...tones.keys()].join(' ')}; failures: ${listening.codes().join(' ')}`)
  t.true(listening.codes().length > 0, 'it was noticed')
  t.deepEqual(
    whole.map(([number]) => number),
    Array.from(whole, (_, index) => (whole[0]?.[0] ?? 0) + index),
    'none is lost',
  )
  for (const [number, seconds] of whole) t.true(seconds > 0.6, `tone ${number}: ${seconds} s`)
  const repeated = whole.reduce((sum, [, seconds]) => sum + Math.max(0, seconds - 1), 0)
  t.true(repeated <= 2, `${repeated} s heard twice`)
  t.deepEqual(listening.ends, [])
})

/** Where a tone is heard first, in seconds. */
const placeOf = (samples: Int16Array, number: number): number => {
  const window = 1600
  let at = 0
  while (at < samples.length && !tonesIn(samples.subarray(at, at + window)).has(number)) at += window
  return at / 16_000
}

/**
 * Kills the server of a stream for some seconds; nothing may be missing but what was sent from 2 s before until it is
 * there again. A sender that is behind the clock, on a machine that has much else to do, says itself what it has sent.
 */
const loseAndFind = async (t: ExecutionContext, url: string, epoch: number, server: { kill: () => Promise<void>; start: () => Promise<void> }, sender?: ToneSender): Promise<void> => {
  const clock = (): number => (Date.now() - epoch) / 1000
  const listening = startRetryingSource(t, url)
  await eventually(() => assert.ok(listening.seconds() >= 5, listening.codes().join(' ')), { timeoutMs: 60_000 })
  const [killed, heard] = [sender?.sent() ?? clock(), listening.seconds()]
  await server.kill()
  await pause(DOWN_MS)
  await server.start()
  const [up, back] = [clock(), listening.seconds()]
  await eventually(() => assert.ok(listening.seconds() >= back + 6, listening.codes().join(' ')), { timeoutMs: 90_000 })
  await listening.stop()
  const again = sender?.begun() ?? up
  const tones = [...tonesIn(listening.samples())].filter(([, seconds]) => seconds > 0.3).map(([number]) => number)
  // By number: an encoder's first noise may be taken for a later tone.
  const [first, last] = [Math.min(...tones), Math.max(...tones)]
  const lost = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
    (number) => !tones.includes(number),
  )
  const sent = `${killed.toFixed(1)} s were sent, ${heard.toFixed(1)} s of them heard, when it was killed; sent again from ${again.toFixed(1)} s`
  // Of the first tone before and behind the break a part may be missing.
  const whole = tones.filter((number) => tones.includes(number - 1))
  const shifts = whole.map((number) => placeOf(listening.samples(), number) - number)
  const shift = Math.max(...shifts) - Math.min(...shifts)
  t.log(`what was heard again stands off by ${shift.toFixed(1)} s`)
  t.log(`${sent}; tones heard ${tones.join(' ')}, lost ${lost.join(' ')}; failures: ${listening.codes().join(' ')}`)
  t.true(lost.length > 0, 'it was away')
  t.true(shift < lost.length / 2, 'what was lost stands as a gap')
  t.true(lost.every((number) => number > killed - 3 && number < again + 1), 'nothing else')
  t.deepEqual(listening.ends, [])
}

withNginx('the tone test: RTMP loses what was sent while its server was down, and is picked up again', async (t) => {
  t.timeout(600_000)
  const nginx = await createNginx(t)
  await nginx.start()
  const epoch = Date.now()
  const sender = sendTones(t, epoch, ['-f', 'flv', `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`])
  await loseAndFind(t, `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`, epoch, nginx, sender)
})

withGstreamer(
  'the tone test: RTSP loses what was sent while its server was down, and is picked up again',
  async (t) => {
    t.timeout(600_000)
    const epoch = Date.now()
    const server = await createGstreamer(t, { epoch })
    await server.start()
    await loseAndFind(t, `rtsp://127.0.0.1:${server.port}/tones`, epoch, server)
  },
)
