import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import { startAttempt } from '../../../infrastructure/sources/puller/attempt.ts'
import { createByteReader } from '../../../infrastructure/sources/network/byte-reader.ts'
import { diagnoseSource, type Finding } from '../../../infrastructure/sources/puller/diagnose.ts'
import { SourceError } from '../../../infrastructure/sources/source-error.ts'
import type { Note } from '../../../infrastructure/sources/source-kind.ts'
import { packageSample, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { ISOLATED, pullOnce } from '../../support/sources/pulling.ts'
import { flvAudio, serveRtmp } from '../../support/sources/rtmp-server.ts'
import { listenForStream } from '../../support/sources/stream-server.ts'
import { aacAudio, pcmuAudio, SECRET, serveRtsp } from '../../support/sources/rtsp-server.ts'

const RULES = { allow: ['127.0.0.1/32'], ownPort: null }
const SECONDS = 5
const INTERRUPTED = { kind: 'interrupted', code: 'stream_over' } as const
const PASS = `${SECRET.user}:${encodeURIComponent(SECRET.password)}@`

/** Runs one attempt with its decoder. */
const attempt = async (url: string) => {
  let bytes = 0
  const end = await startAttempt({ url, mediaSequence: null, rules: RULES, isolate: true }, async (frame) => {
    bytes += frame[0] === 0 ? frame.length - 5 : 0
  }).done
  return { end, seconds: bytes / 32_000 }
}

withFfmpeg('rtmp: the whole stream is received, and its end counts as an interruption', async (t) => {
  const flv = await readFile(join(await packageSample(t, 'flv', SECONDS), 'audio.flv'))
  const server = await serveRtmp(t, flvAudio(flv))
  const { end, seconds } = await attempt(server.url('app/instance/room/ok?key=1'))
  t.deepEqual(end, INTERRUPTED)
  t.true(Math.abs(seconds - SECONDS) < 0.2, `${seconds} s`)
  t.deepEqual(server.requests, ['connect app/instance', 'play room/ok?key=1'])
})

withFfmpeg('rtsp: whole and fragmented AAC is received with Digest; its end counts as an interruption', async (t) => {
  const flv = await readFile(join(await packageSample(t, 'flv', SECONDS), 'audio.flv'))
  const server = await serveRtsp(t, aacAudio(flvAudio(flv)))
  const { end, seconds } = await attempt(server.url('digest/a b').replace('://', `://${PASS}`))
  t.deepEqual(end, INTERRUPTED)
  t.true(Math.abs(seconds - SECONDS) < 0.2, `${seconds} s`)
  t.deepEqual(
    server.requests.slice(0, 5).map((line) => line.replace(/ rtsp:\/\/[^/]*/, ' ')),
    [
      'OPTIONS /digest/a%20b',
      'OPTIONS /digest/a%20b',
      'DESCRIBE /digest/a%20b',
      'SETUP /digest/a%20b/t0',
      'PLAY /digest/a%20b',
    ],
  )
})

test('rtsp: samples are received with Basic; wrong or missing credentials are refused once', async (t) => {
  const sound = pcmuAudio(1)
  const server = await serveRtsp(t, sound)
  const { code, bytes } = await pullOnce(server.url('basic').replace('://', `://${PASS}`))
  t.is(code, 'stream_over')
  t.is(bytes.toString('latin1', 0, 3), 'FLV')
  t.is(bytes.length, 13 + 50 * (11 + 1 + 160 + 4))
  // The TEARDOWN of the previous session may still arrive, so it does not count.
  const requestCount = (): number => server.requests.filter((line) => !line.startsWith('TEARDOWN')).length
  for (const [path, credentials] of [['basic', ''], ['basic', 'x:y@'], ['digest', 'okapi:y@']] as const) {
    const before = requestCount()
    t.is((await pullOnce(server.url(path).replace('://', `://${credentials}`))).code, 'rtsp_401')
    t.is(requestCount() - before, credentials === '' ? 1 : 2)
  }
})

withFfmpeg(
  'a broken stream is retried until its server returns, within one attempt; any other failure is not',
  async (t) => {
    const messages = flvAudio(await readFile(join(await packageSample(t, 'flv', 1), 'audio.flv')))
    const { port, url, stop } = await serveRtmp(t, messages)
    await stop()
    t.is((await pullOnce(url('app/ok'))).code, 'unreachable')
    let checks = 0
    const note: Note = (step) => {
      if (step === 'check') checks += 1
      if (step === 'check' && checks === 2) void serveRtmp(t, messages, { port })
    }
    const result = await pullOnce(url('app/ok'), { brokeOff: true, note })
    t.is(result.code, 'stream_over')
    t.true(result.bytes.length > 1000 && checks >= 2, `${checks} checks`)
  },
)

test('data that arrived before a connection reset is delivered before the failure', async (t) => {
  const sent = Buffer.alloc(32_000, 'sound')
  let server: Socket | undefined
  const { port } = await listenForStream(t, 'rtmp', '127.0.0.1', (socket) => {
    server = socket
    socket.write(sent.subarray(0, 1))
  })
  const socket = connect({ host: '127.0.0.1', port })
  const reader = createByteReader(socket)
  await reader.peek(1)
  server?.write(sent.subarray(1))
  await eventually(() => assert.equal(socket.bytesRead, sent.length))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  server?.resetAndDestroy()
  // The client does not read on, so it notices the end only by its own writes.
  socket.write('acknowledged')
  await closed
  t.deepEqual(await reader.exactly(sent.length), sent)
  t.is((await t.throwsAsync(reader.peek(1), { instanceOf: SourceError }))?.code, 'closed')
})

test('misbehaving RTMP servers end the attempt with a code, and no redirect is followed', async (t) => {
  const server = await serveRtmp(t, [], { elsewhere: 'rtmp://127.0.0.3:9/live/x' })
  for (const [path, code] of [
    ['redirect/x', 'refused'],
    ['deep/x', 'bad_answer'],
    ['cut/x', 'bad_answer'],
    ['unknown/x', 'bad_answer'],
    ['html/x', 'bad_answer'],
    ['live/moved', 'refused'],
    ['live/missing', 'refused'],
    ['live/unpublished', 'stream_over'],
    ['live/huge', 'bad_answer'],
    ['live/many', 'bad_answer'],
    ['live/wide', 'bad_answer'],
    ['live/short', 'bad_answer'],
  ] as const)
    t.is((await pullOnce(server.url(path))).code, code, path)
})

test('misbehaving RTSP servers end the attempt with a code; redirects are checked too', async (t) => {
  const server = await serveRtsp(t, pcmuAudio(1))
  const codeOf = async (path: string) => (await pullOnce(server.url(path))).code
  for (const method of ['options', 'describe', 'setup', 'play'])
    t.is(await codeOf(`redirect-${method}`), 'address_forbidden', method)
  for (const [path, code] of [
    ['loop', 'too_many_redirects'],
    ['smuggle', 'bad_answer'],
    ['long-head', 'bad_answer'],
    ['long-body', 'bad_answer'],
    ['html', 'bad_answer'],
    ['video', 'no_audio'],
    ['speex', 'unsupported'],
    ['encrypted', 'encrypted'],
    ['short-length', 'stream_over'],
    ['bad-control', 'stream_over'],
    ['udp', 'unsupported_transport'],
    ['multicast', 'unsupported_transport'],
    ['only-udp', 'unsupported_transport'],
    ['noise', 'bad_answer'],
    ['server-request', 'closed'],
    ['control', 'stream_over'],
    ['base', 'stream_over'],
    ['redirect-to-x?http%3A%2F%2F127.0.0.1%2F', 'scheme_forbidden'],
    ['redirect-to-x?%20', 'too_many_redirects'],
    [`redirect-to-x?${encodeURIComponent(server.url('ok'))}`, 'stream_over'],
  ] as const)
    t.is(await codeOf(path), code, path)
  t.is(server.requests.filter((line) => line.endsWith('/loop')).length, 4)
  // Credentials for one server are not sent to another server.
  const otherServer = await serveRtsp(t, pcmuAudio(1))
  for (const [next, code] of [[server, 'stream_over'], [otherServer, 'rtsp_401']] as const)
    t.is(
      (
        await pullOnce(
          server.url(`redirect-to-x?${encodeURIComponent(next.url('basic'))}`).replace('://', `://${PASS}`),
        )
      ).code,
      code,
    )
  t.is((await pullOnce(`rtsp://a%0d%0ab@127.0.0.1:${server.port}/ok`)).code, 'unsupported')
})

test('rtsp: the microphone of a camera plays, whatever its direction, and never the loudspeaker', async (t) => {
  const server = await serveRtsp(t, pcmuAudio(1))
  for (const path of ['recvonly', 'two-way', 'all-recvonly', 'sendonly'])
    t.is((await pullOnce(server.url(path))).code, 'stream_over', path)
  const setUps = server.requests.filter((line) => line.startsWith('SETUP')).map((line) => line.split('/').at(-1))
  t.deepEqual(setUps, ['t0', 't0', 't0', 't0'])
})

test('rtsp: stray bytes between packets are skipped, and no packet is lost', async (t) => {
  const server = await serveRtsp(t, pcmuAudio(1))
  const [clean, stray] = [await pullOnce(server.url('ok')), await pullOnce(server.url('stray'))]
  t.is(stray.code, 'stream_over')
  t.deepEqual(stray.bytes, clean.bytes)
})

withFfmpeg('rtmp: a server that closes after audio has ended regularly, and may come back', async (t) => {
  const messages = flvAudio(await readFile(join(await packageSample(t, 'flv', 1), 'audio.flv')))
  const closing = (sent: ReadonlyArray<Buffer>) =>
    serveRtmp(t, messages, {
      playing: (socket, send) => {
        for (const [index, audio] of sent.entries()) send(index * 64, audio)
        socket.end()
      },
    })
  t.deepEqual((await attempt((await closing(messages)).url('app/ok'))).end, {
    kind: 'interrupted',
    code: 'closed_after_audio',
  })
  t.is((await pullOnce((await closing([])).url('app/ok'))).code, 'closed')
})

test('rtmp: a stream that ends and of which nothing could be decoded has failed, and is tried again', async (t) => {
  const [parameters, frame] = [Buffer.from([0xaf, 0, 0x14, 0x08]), Buffer.alloc(300, 'no AAC')]
  frame.set([0xaf, 1])
  const server = await serveRtmp(t, [parameters, ...Array.from({ length: 20 }, () => frame)])
  t.like((await attempt(server.url('app/ok'))).end, { kind: 'failed', code: 'no_audio', retry: true })
})

test('rtmp: a publisher that restarts with other parameters begins a new stretch', async (t) => {
  const [first, second, frame] = ['\xaf\0\x14\x08', '\xaf\0\x11\x90', '\xaf\x01frame'].map((text) =>
    Buffer.from(text, 'latin1'))
  assert(first !== undefined && second !== undefined && frame !== undefined)
  const opus = Buffer.from('\x91Opusframe', 'latin1')
  const server = await serveRtmp(t, [first, frame, first, frame, second, frame, opus])
  const { code, bytes } = await pullOnce(server.url('app/ok'))
  t.is(code, 'stream_over')
  const stretches = bytes.toString('latin1').split('FLV\x01').slice(1)
  t.deepEqual(
    stretches.map((stretch) => stretch.split('frame').length - 1),
    [2, 1, 1],
  )
})

withFfmpeg('doctor checks a source step by step, and each problem has its own step', async (t) => {
  const flv = await readFile(join(await packageSample(t, 'flv', SECONDS), 'audio.flv'))
  const server = await serveRtsp(t, aacAudio(flvAudio(flv)))
  const diagnose = async (url: string) => {
    const findings: Array<Finding> = []
    const ok = await diagnoseSource({
      url,
      rules: RULES,
      isolation: ISOLATED,
      seconds: 2,
      report: (finding) => findings.push(finding),
    })
    return { ok, lines: findings.map(({ step, ok: good, detail }) => `${step}${good ? '' : ' WRONG'} ${detail}`) }
  }
  const report = await diagnose(server.url('ok'))
  t.true(report.ok)
  t.deepEqual(
    report.lines.slice(0, -1).filter((line) => !line.startsWith('resolve')),
    [
      'check 127.0.0.1 is allowed',
      `connect 127.0.0.1 port ${server.port}`,
      'request the server offers MPEG4-GENERIC, 16000 Hz, 1 channel',
      'request the server plays the stream over this connection',
      'container flv',
      'codec aac, 16000 Hz, 1 channel',
      'audio received the first audio',
    ],
  )
  t.regex(report.lines.at(-1) ?? '', /^audio \d\.\d s of audio, peak at -\d+ dB$/)
  const web = await serve(t, (request, response) => {
    // The server has a film with its index at the end and no range support. All other paths need a login.
    if (request.url === '/film') response.end('\0\0\0\x08ftyp\0\0\0\x10mdat<<sound>')
    else response.writeHead(401, { 'www-authenticate': 'Digest realm="r", nonce="n", stale=true' }).end()
  })
  for (const [url, last] of [
    [web.url('film'), 'container WRONG no_index'],
    [web.url('locked').replace('://', '://a:b@'), 'request WRONG http_401'],
    [server.url('digest'), 'request WRONG rtsp_401'],
    [server.url('redirect-describe'), 'check WRONG address_forbidden'],
    [server.url('video'), 'container WRONG no_audio'],
    [server.url('html'), 'request WRONG bad_answer'],
    ['rtmp://127.0.0.1:1/a/b', 'connect WRONG unreachable'],
  ] as const) {
    const { ok, lines } = await diagnose(url)
    t.false(ok)
    t.is(lines.at(-1)?.split(':')[0], last)
  }
})
