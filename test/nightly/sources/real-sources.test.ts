import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { startPulling } from '../../support/sources/pulling.ts'
import {
  createApache, createGstreamer, createNginx, makeCertificate, makeVideo, sendTones, tlsInFrontOf, withApache,
  withGstreamer, withNginx, untilWritten, type Certificate, type ToneSender,
} from '../../support/sources/real-servers.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { tonesIn } from '../../support/audio/tones.ts'

const LIVE = ['-f', 'hls', '-hls_time', '1', '-hls_list_size', '8', '-hls_flags', 'delete_segments', 'index.m3u8']
const FILM_SECONDS = 20
const NONCE_SECONDS = 2
const SECRET = 'okapi:wapiti%2047@'

const assertPlays = (t: ExecutionContext, url: string, seconds: number): Promise<void> => {
  const listening = startRetryingSource(t, url)
  return eventually(
    () =>
      assert.ok(listening.seconds() >= seconds, `${listening.seconds()} s of ${url}, ${listening.codes().join(' ')}`),
    { timeoutMs: 60_000 },
  ).then(listening.stop)
}

/** Creates a certificate that pullers of this process trust, and an untrusted certificate. */
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

withNginx('nginx: HLS and RTMP play, also with Basic authentication and with a trusted certificate', async (t) => {
  t.timeout(600_000)
  const { good, bad } = await certificates(t)
  const nginx = await createNginx(t)
  await nginx.start()
  sendTones(t, Date.now(), ['-f', 'flv', `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`])
  sendTones(t, Date.now(), LIVE, join(nginx.root, 'secret'))
  await untilWritten(join(nginx.root, 'secret', 'index.m3u8'))
  await assertPlays(t, `http://${SECRET}127.0.0.1:${nginx.http}/secret/index.m3u8`, 5)
  await assertPlays(t, `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`, 5)
  await assertPlays(t, `https://${SECRET}127.0.0.1:${await tlsInFrontOf(t, nginx.http, good)}/secret/index.m3u8`, 3)
  await assertPlays(t, `rtmps://127.0.0.1:${await tlsInFrontOf(t, nginx.rtmp, good)}/live/tones`, 3)
  t.is(await codeOf(t, `https://127.0.0.1:${await tlsInFrontOf(t, nginx.http, bad)}/secret/index.m3u8`), 'tls')
  t.is(await codeOf(t, `rtmps://127.0.0.1:${await tlsInFrontOf(t, nginx.rtmp, bad)}/live/tones`), 'tls')
  t.is(await codeOf(t, `http://127.0.0.1:${nginx.http}/secret/index.m3u8`), 'http_401')
})

withNginx(
  'nginx: a film with its index at the end plays, and fails with no_index without range requests',
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

withApache('Apache: Digest authentication works with the right password, also when nonces expire', async (t) => {
  t.timeout(600_000)
  const apache = await createApache(t, NONCE_SECONDS)
  await apache.start()
  sendTones(t, Date.now(), LIVE, join(apache.root, 'secret'))
  await untilWritten(join(apache.root, 'secret', 'index.m3u8'))
  const address = `127.0.0.1:${apache.port}/secret/index.m3u8`
  const listening = startRetryingSource(t, `http://${SECRET}${address}`)
  await eventually(
    () =>
      assert.ok(listening.seconds() >= 5 * NONCE_SECONDS, `${listening.seconds()} s, ${listening.codes().join(' ')}`),
    { timeoutMs: 120_000 },
  )
  await listening.stop()
  t.deepEqual(listening.codes(), [])
  for (const user of ['', 'okapi:x@']) t.is(await codeOf(t, `http://${user}${address}`), 'http_401')
})

withGstreamer('GStreamer: all formats play over RTSP, and over TLS with a trusted certificate', async (t) => {
  t.timeout(600_000)
  const { good, bad } = await certificates(t)
  const server = await createGstreamer(t)
  await server.start()
  for (const name of ['pcmu', 'pcma', 'l16', 'mp3', 'opus', 'aac'])
    await assertPlays(t, `rtsp://127.0.0.1:${server.port}/${name}`, name === 'aac' ? 5 : 3)
  await assertPlays(t, `rtsps://127.0.0.1:${await tlsInFrontOf(t, server.port, good)}/aac`, 3)
  t.is(await codeOf(t, `rtsps://127.0.0.1:${await tlsInFrontOf(t, server.port, bad)}/aac`), 'tls')
  t.is(await codeOf(t, `rtsp://127.0.0.1:${server.port}/nothing`), 'rtsp_404')
})

for (const kind of ['basic', 'digest'])
  withGstreamer(`GStreamer: ${kind} authentication works with the right password only`, async (t) => {
    t.timeout(300_000)
    const server = await createGstreamer(t, { kind })
    await server.start()
    await assertPlays(t, `rtsp://${SECRET}127.0.0.1:${server.port}/pcmu`, 3)
    t.is(await codeOf(t, `rtsp://okapi:x@127.0.0.1:${server.port}/pcmu`), 'rtsp_401')
    t.is(await codeOf(t, `rtsp://127.0.0.1:${server.port}/pcmu`), 'rtsp_401')
  })

const DOWN_MS = 5000
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, milliseconds))

withNginx('tone test: HLS loses no tone and repeats at most 2 s after a killed web server', async (t) => {
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
  const secondsAtRestart = listening.seconds()
  await eventually(() => assert.ok(listening.seconds() >= secondsAtRestart + 15, `${listening.seconds()} s`), {
    timeoutMs: 90_000,
  })
  await listening.stop()
  const tones = tonesIn(listening.samples())
  // The first and the last tone are incomplete, and the first noise of an encoder is no tone.
  const whole = [...tones].filter(([, seconds]) => seconds > 0.2).toSorted(([a], [b]) => a - b).slice(1, -1)
  t.log(`tones ${[...tones.keys()].join(' ')}; failures: ${listening.codes().join(' ')}`)
  t.true(listening.codes().length > 0, 'the failure was noticed')
  t.deepEqual(
    whole.map(([number]) => number),
    Array.from(whole, (_, index) => (whole[0]?.[0] ?? 0) + index),
    'no tone is lost',
  )
  for (const [number, seconds] of whole) t.true(seconds > 0.6, `tone ${number}: ${seconds} s`)
  const repeated = whole.reduce((sum, [, seconds]) => sum + Math.max(0, seconds - 1), 0)
  t.true(repeated <= 2, `${repeated} s were repeated`)
  t.deepEqual(listening.ends, [])
})

/** Returns the second at which a tone first sounds. */
const startOf = (samples: Int16Array, number: number): number => {
  const window = 1600
  let at = 0
  while (at < samples.length && !tonesIn(samples.subarray(at, at + window)).has(number)) at += window
  return at / 16_000
}

/**
 * Kills the server of a stream for some seconds. Only audio from 2 s before the kill until the restart may be missing.
 * A sender on a busy machine may lag behind the clock, so it reports itself how much it has sent.
 */
const assertSurvivesKill = async (
  t: ExecutionContext,
  url: string,
  epoch: number,
  server: { readonly kill: () => Promise<void>; readonly start: () => Promise<void> },
  sender?: ToneSender,
): Promise<void> => {
  const clock = (): number => (Date.now() - epoch) / 1000
  const listening = startRetryingSource(t, url)
  await eventually(() => assert.ok(listening.seconds() >= 5, listening.codes().join(' ')), { timeoutMs: 60_000 })
  const [killedAt, receivedSeconds] = [sender?.sent() ?? clock(), listening.seconds()]
  await server.kill()
  await pause(DOWN_MS)
  await server.start()
  const [upAt, secondsAtRestart] = [clock(), listening.seconds()]
  await eventually(() => assert.ok(listening.seconds() >= secondsAtRestart + 6, listening.codes().join(' ')), {
    timeoutMs: 90_000,
  })
  await listening.stop()
  const resumedAt = sender?.begun() ?? upAt
  const tones = [...tonesIn(listening.samples())].filter(([, seconds]) => seconds > 0.3).map(([number]) => number)
  // The tones are compared by number, because the first noise of an encoder may look like a later tone.
  const [first, last] = [Math.min(...tones), Math.max(...tones)]
  const lost = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter(
    (number) => !tones.includes(number),
  )
  const summary =
    `${killedAt.toFixed(1)} s were sent and ${receivedSeconds.toFixed(1)} s received at the kill; ` +
    `sent again from ${resumedAt.toFixed(1)} s`
  // The first tone of the audio and the first tone after the gap may be incomplete, so they are left out.
  const whole = tones.filter((number) => tones.includes(number - 1))
  const shifts = whole.map((number) => startOf(listening.samples(), number) - number)
  const shift = Math.max(...shifts) - Math.min(...shifts)
  t.log(`later audio is shifted by ${shift.toFixed(1)} s`)
  t.log(`${summary}; tones ${tones.join(' ')}, lost ${lost.join(' ')}; failures: ${listening.codes().join(' ')}`)
  t.true(lost.length > 0, 'the outage lost audio')
  t.true(shift < lost.length / 2, 'the lost audio stays a gap, so later audio is not shifted')
  t.true(lost.every((number) => number > killedAt - 3 && number < resumedAt + 1), 'only audio around the kill is lost')
  t.deepEqual(listening.ends, [])
}

withNginx('tone test: RTMP loses only the audio of a server outage', async (t) => {
  t.timeout(600_000)
  const nginx = await createNginx(t)
  await nginx.start()
  const epoch = Date.now()
  const sender = sendTones(t, epoch, ['-f', 'flv', `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`])
  await assertSurvivesKill(t, `rtmp://127.0.0.1:${nginx.rtmp}/live/tones`, epoch, nginx, sender)
})

withGstreamer('tone test: RTSP loses only the audio of a server outage', async (t) => {
  t.timeout(600_000)
  const epoch = Date.now()
  const server = await createGstreamer(t, { epoch })
  await server.start()
  await assertSurvivesKill(t, `rtsp://127.0.0.1:${server.port}/tones`, epoch, server)
})
