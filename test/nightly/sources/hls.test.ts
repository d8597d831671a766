import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { endlessHls, filesOf, packageSample, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import { logIn, type Client, type Listing, type LiveJson, type Single } from '../../support/service/client.ts'
import { startRetryingSource } from '../../support/sources/retrying-source.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { processGroupOf, isRunning } from '../../support/tools/processes.ts'
import { passwordOf, startTestService } from '../../support/service/service.ts'
import { alignWords, comparableWords } from '../../../domain/transcript/word-alignment.ts'

const onLinux = process.platform === 'linux' ? withFfmpeg : test.skip
const ALLOW_LOCAL = { AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32', LOG_LEVEL: 'trace' }
const SECRETS = { user: 'Okapi-user', password: 'Wapiti-4711', key: 'Xylophone-77' }

type SpokenWord = readonly [word: string, start: number, end: number]
const { sentences: SENTENCES } = JSON.parse(readFileSync('interfaces/cli/streaming/demo/sample.json', 'utf8')) as {
  readonly sentences: ReadonlyArray<{ readonly words: ReadonlyArray<SpokenWord> }>
}

const liveOf = async (client: Client, id: number): Promise<LiveJson> =>
  (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data

const pidOf = async (client: Client, id: number): Promise<number> =>
  eventually(async () => {
    const live = await liveOf(client, id)
    assert.equal(live.status, 'active')
    assert.equal(typeof live['auto_start_pid'], 'number')
    return Number(live['auto_start_pid'])
  })

const startEndless = async (t: ExecutionContext) => {
  const service = await startTestService(t, ALLOW_LOCAL)
  const client = await service.user('puller')
  const server = await serve(t, endlessHls(await packageSample(t, 'ts', 4)))
  const url = server.url('live.m3u8')
  const live = await client.createLive({ audio_format: 'hls', audio_url: url, auto_start: true })
  return { service, client, server, url, live }
}

onLinux('auto_start transcribes a recording in a separate process', async (t) => {
  const service = await startTestService(t, ALLOW_LOCAL)
  const client = await service.user('puller')
  const folder = await packageSample(t, 'ts', 9)
  const playlist = await readFile(join(folder, 'index.m3u8'))
  const gate = Promise.withResolvers<void>()
  const credentials: Array<string | undefined> = []
  const files = filesOf(folder)
  const server = await serve(t, (request, response) => {
    if (request.headers.authorization === undefined)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    credentials.push(request.headers.authorization)
    // Holds the last segment back until the process has been inspected.
    if (request.url === '/index4.ts') void gate.promise.then(() => files(request, response))
    else if (request.url?.startsWith('/index.m3u8') === true) response.end(playlist)
    else files(request, response)
  })
  const url = server
    .url(`index.m3u8?key=${SECRETS.key}`)
    .replace('http://', `http://${SECRETS.user}:${SECRETS.password}@`)
  const live = await client.createLive({ audio_format: 'hls', audio_url: url, auto_start: true })
  t.is(live.status, 'pending')
  t.is(live['auto_start_pid'], null)
  const listener = await client.socket(live, 'listener')
  const pid = await pidOf(client, live.id)
  t.true(isRunning(pid))
  const listed = await client.get<Listing<LiveJson>>('/lives/?status=active')
  t.deepEqual(listed.body.data.map(({ id }) => id), [live.id])
  await listener.frame(({ type }) => type === 'transcription')
  for (const member of processGroupOf(pid))
    for (const file of ['cmdline', 'environ'])
      for (const secret of Object.values(SECRETS))
        t.false(readFileSync(`/proc/${member}/${file}`, 'latin1').includes(secret), `${secret} in ${file}`)
  gate.resolve()
  t.is((await listener.closed).code, 1000)
  const text = listener.frames.filter(({ final }) => final === true).map(({ text: words }) => String(words)).join(' ')
  t.regex(text.toLowerCase(), /[a-z]+ [a-z]+ [a-z]+/)
  const after = await liveOf(client, live.id)
  t.like(after, { status: 'finished', auto_start_pid: pid, audio_url: url, vram: 0 })
  await eventually(() => assert.deepEqual(processGroupOf(pid), []))
  t.deepEqual(
    [...new Set(credentials)],
    [`Basic ${Buffer.from(`${SECRETS.user}:${SECRETS.password}`).toString('base64')}`],
  )
  for (const secret of Object.values(SECRETS))
    t.false(service.log().includes(secret), 'the log contains no secret')
})

onLinux('finish-by-audio_url ends an endless source, its process and its decoder', async (t) => {
  const { client, url, live } = await startEndless(t)
  const pid = await pidOf(client, live.id)
  await eventually(() => assert.equal(processGroupOf(pid).length, 2))
  const startedAt = process.hrtime.bigint()
  const answer = await client.put<Listing<LiveJson>>('/lives/finish-by-audio_url', { audio_url: url })
  t.like(answer.body.data[0], { id: live.id, status: 'finished', vram: 0 })
  await eventually(() => assert.deepEqual(processGroupOf(pid), []))
  t.log(`all processes ended after ${Number((process.hrtime.bigint() - startedAt) / 1_000_000n)} ms`)
})

onLinux('kill -9 of the service leaves no process, and the next service continues the source', async (t) => {
  const { service, client, live } = await startEndless(t)
  const listener = await client.socket(live, 'listener')
  const pid = await pidOf(client, live.id)
  const last = await listener.frame(({ type, final }) => type === 'transcription' && final === true)
  const members = processGroupOf(pid)
  t.is(members.length, 2)
  // A stopped decoder cannot notice the death of its parent, so the kernel must end it.
  for (const member of members) if (member !== pid) process.kill(member, 'SIGSTOP')
  await service.kill('SIGKILL')
  await eventually(() => assert.deepEqual(members.filter(isRunning), []))
  await service.start()
  const again = await logIn(service.url(), 'puller', passwordOf('puller'))
  // The list shows the old process until the new one has started.
  await eventually(async () => assert.notEqual(await pidOf(again, live.id), pid))
  const laterListener = await again.socket(live, 'listener')
  const next = await laterListener.frame(({ type, final }) => type === 'transcription' && final === true)
  t.true(Number(next['start']) >= Number(last['end']))
  t.true(Number(next['segment']) > Number(last['segment']))
})

onLinux('after kill -9 a recording continues after its last final', async (t) => {
  const service = await startTestService(t, ALLOW_LOCAL)
  const client = await service.user('puller')
  const folder = await packageSample(t, 'ts', 24)
  const playlist = await readFile(join(folder, 'index.m3u8'))
  const files = filesOf(folder)
  let killed = false
  const server = await serve(t, (request, response) => {
    // The second half is served after the kill.
    if (request.url === '/index.m3u8') response.end(playlist)
    else if (killed || Number(/\d+/.exec(request.url ?? '')?.[0]) < 6) files(request, response)
  })
  const live = await client.createLive({ audio_format: 'hls', audio_url: server.url('index.m3u8'), auto_start: true })
  const listener = await client.socket(live, 'listener')
  const last = await listener.frame(({ final, end }) => final === true && Number(end) > 4)
  await service.kill('SIGKILL')
  killed = true
  const before = server.requests.length
  await service.start()
  const again = await logIn(service.url(), 'puller', passwordOf('puller'))
  const laterListener = await again.socket(live, 'listener')
  await laterListener.closed
  t.like(await liveOf(again, live.id), { status: 'finished' })
  const segments = server.requests
    .slice(before)
    .flatMap((path) => /^\/index(\d+)\.ts/.exec(path)?.[1] ?? [])
    .map(Number)
  t.log(`the last final ended at ${String(last['end'])} s; then segments ${segments.join(' ')} were requested`)
  t.true((segments[0] ?? 0) > 0 && (segments[0] ?? 99) <= Math.ceil(Number(last['end']) / 2))
  t.is(segments.at(-1), playlist.toString().split('#EXTINF').length - 2, 'the last segment was requested')
})

onLinux('words after lost segments and a discontinuity keep their recorded times', async (t) => {
  const service = await startTestService(t, ALLOW_LOCAL)
  const client = await service.user('puller')
  const folder = await packageSample(t, 'ts', 54)
  const recorded = await readFile(join(folder, 'index.m3u8'), 'utf8')
  const playlist = recorded.replace(/(?=#EXTINF:.*\nindex16\.ts)/, '#EXT-X-DISCONTINUITY\n')
  const files = filesOf(folder)
  const server = await serve(t, (request, response) => {
    if (request.url === '/index.m3u8') response.end(playlist)
    else if (/^\/index(?:5|6|15)\.ts/.test(request.url ?? '')) response.writeHead(404).end()
    else files(request, response)
  })
  const live = await client.createLive({ audio_format: 'hls', audio_url: server.url('index.m3u8'), auto_start: true })
  const listener = await client.socket(live, 'listener')
  await listener.closed
  const finals = listener.frames.filter(({ type, final }) => type === 'transcription' && final === true)
  const transcribed = finals.flatMap(({ text, start, end }) =>
    comparableWords(String(text)).map((word) => ({ word, start: Number(start), end: Number(end) })))
  const spoken = SENTENCES.flatMap(({ words }) => words).filter(([word]) => word !== '')
  const { matches } = alignWords(spoken.map(([word]) => word.toLowerCase()), transcribed.map(({ word }) => word))
  const outside = matches.map(([truth, index]) => {
    const [, start, end] = spoken[truth] ?? ['', 0, 0]
    const segment = transcribed[index] ?? { start: 0, end: 0 }
    return Math.max(0, segment.start - start, end - segment.end)
  })
  const words = `${matches.length} of ${spoken.length} words, ${finals.length} segments`
  t.log(`${words}; outside their segment by at most ${Math.max(...outside).toFixed(3)} s`)
  t.true(matches.length > 0.7 * spoken.length)
  t.deepEqual(outside.filter((seconds) => seconds > 0.5), [])
  const { body: metrics } = await client.get<string>('/metrics')
  const lost = Number(/^stenolog_source_lost_seconds_total (\S+)$/m.exec(metrics)?.[1])
  t.true(Math.abs(lost - 6) < 0.3, `${lost} s are lost instead of three segments of two seconds`)
})

onLinux(
  'without auto_start the config message starts the source, sent audio is refused and FINISH ends it',
  async (t) => {
    const service = await startTestService(t, ALLOW_LOCAL)
    const client = await service.user('puller')
    const server = await serve(t, endlessHls(await packageSample(t, 'ts', 4)))
    const live = await client.createLive({ audio_format: 'hls', audio_url: server.url('live.m3u8') })
    const sender = await client.socket(live, 'sender')
    t.deepEqual(server.requests, [])
    sender.send({ type: 'config' })
    sender.sendAudio(new Int16Array(1600))
    await sender.frame(({ code }) => code === 'audio_not_expected')
    await sender.frame(({ type }) => type === 'transcription')
    t.like(await liveOf(client, live.id), { status: 'active', auto_start_pid: null })
    sender.send({ type: 'FINISH' })
    t.is((await sender.closed).code, 1000)
    t.is((await liveOf(client, live.id)).status, 'finished')
  },
)

onLinux('a forbidden address is refused at once, a forbidden host name after its lookup', async (t) => {
  const service = await startTestService(t)
  const client = await service.user('puller')
  const server = await serve(t, (_request, response) => response.end())
  for (const host of ['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]', '10.0.0.1', 'x@127.0.0.1'])
    for (const [format, scheme] of [
      ['hls', 'http'],
      ['rtmp', 'rtmp'],
      ['rtsp', 'rtsp'],
    ]) {
      const body = {
        model: 'demo-en',
        language: 'en',
        audio_format: format,
        audio_url: `${scheme}://${host}:${server.port}/a`,
        auto_start: true,
      }
      const answer = await client.post<{ detail: ReadonlyArray<{ loc: ReadonlyArray<string>; msg: string }> }>(
        '/lives/',
        body,
      )
      t.is(answer.status, 422, host)
      t.deepEqual(answer.body.detail[0]?.loc, ['body', 'audio_url'])
      t.regex(answer.body.detail[0]?.msg ?? '', /AUDIO_URL_ALLOW_CIDRS/)
    }
  const live = await client.createLive({
    audio_format: 'hls',
    audio_url: `http://localhost:${server.port}/a`,
    auto_start: true,
  })
  const listener = await client.socket(live, 'listener')
  await client.untilStatus(live, 'error')
  t.true([1000, 1011, 4410].includes((await listener.closed).code))
  t.deepEqual(server.requests, [])
})

test('a variant whose server never answers is replaced by its backup before the source counts as silent', async (t) => {
  const server = await serve(t, (request, response) => {
    if (request.url === '/master') response.end(['#EXTM3U', ...['hang', 'media'].map((uri) =>
      `#EXT-X-STREAM-INF:BANDWIDTH=1\n${uri}`)].join('\n'))
    else if (request.url === '/media') response.end('#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n0\n#EXT-X-ENDLIST\n')
    else if (request.url === '/0') response.end('sound')
  })
  const source = startRetryingSource(t, server.url('master'))
  await eventually(() => assert.ok(server.requests.includes('/0')))
  t.deepEqual(server.requests, ['/master', '/hang', '/media', '/0'], 'the first attempt plays the backup')
  await source.stop()
})
