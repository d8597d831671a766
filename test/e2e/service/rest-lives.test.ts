import { request } from 'node:http'
import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single } from '../../support/service/client.ts'
import { sharedTestService } from '../../support/service/shared-service.ts'

const service = sharedTestService()

const MINIMAL = { model: 'demo-en', language: 'en' }
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/

const complaints = (body: Json): ReadonlyArray<unknown> => {
  const { detail } = body
  if (!Array.isArray(detail)) return [`not a list: ${JSON.stringify(detail)}`]
  return detail.map((item: Json) => (item['loc'] as ReadonlyArray<unknown>).join('.'))
}

const total = async (client: Client): Promise<number> =>
  (await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items

test('the smallest request creates a complete session [R12 R13 R46 R47 R48 R63 R70 R77 R78 R83]', async (t) => {
  const client = await service.user('minimal')
  const { status, body } = await client.post<Single<LiveJson>>('/lives', MINIMAL)
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['data'])
  const { id, created_at, sender_token, listener_token, model, language, vram, ...rest } = body.data
  const { data: models } = (await client.get<Listing<Json>>('/models?name=demo-en')).body
  const { data: languages } = (await client.get<Listing<Json>>('/languages/?iso_639_1=en')).body
  t.deepEqual(model, models[0])
  t.deepEqual(language, languages[0])
  t.is<unknown, unknown>(vram, models[0]?.['vram'])
  t.regex(created_at, DATE)
  t.regex(sender_token, /^[A-Za-z0-9_-]{43}$/)
  t.regex(listener_token, /^[A-Za-z0-9_-]{43}$/)
  t.not(sender_token, listener_token)
  t.deepEqual<unknown, unknown>(rest, {
    status: 'pending',
    live_retention: false,
    audio_format: 'raw',
    audio_url: null,
    auto_start: false,
    auto_start_pid: null,
    iframe_html: null,
    base_url: service.url().replace('http', 'ws'),
    relative_path: `/ws/live/${id}`,
    config: {
      vad: true,
      mode: 'partial',
      min_buffer: 1,
      max_buffer: 10,
      buffer_timeout: 1,
      max_delay: 5,
      max_chars: 80,
      max_lines: 2,
      punctuation: true,
    },
    translations: [],
    updated_at: null,
  })
  t.is(Object.keys(body.data).length, 19)
  t.deepEqual((await client.get(`/lives/${id}`)).body, body)
  t.deepEqual((await client.get<Listing<LiveJson>>('/lives/')).body.data, [body.data])
})

test('a session has an iframe snippet exactly if it has a display setting [R72]', async (t) => {
  const client = await service.user('displayer')
  const snippetOf = async (members: Json): Promise<unknown> => {
    const { data } = (await client.post<Single<LiveJson>>('/lives', { ...MINIMAL, ...members })).body
    t.is((await client.get<Single<LiveJson>>(`/lives/${data.id}`)).body.data.iframe_html, data.iframe_html)
    t.is((await client.get<Listing<LiveJson>>('/lives/?limit=1')).body.data[0]?.iframe_html, data.iframe_html)
    await client.put(`/lives/${data.id}/finish`)
    return data.iframe_html
  }
  t.is(await snippetOf({}), null)
  t.is(await snippetOf({ background_color: null, color_text: null, size_text: null }), null)
  for (const members of [{ background_color: '000' }, { color_text: 'FFFFFF80' }, { size_text: 8 }])
    t.regex(String(await snippetOf(members)), /^<iframe [^<>]+><\/iframe>$/, JSON.stringify(members))
})

test('a Host that is not allowed gets no base_url [R77]', async (t) => {
  const client = await service.user('host')
  const { port } = new URL(service.url())
  const live = await client.createLive()
  // fetch does not let a Host be set.
  const baseUrlFor = (host: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { port, path: `/lives/${live.id}`, headers: { host, authorization: `Bearer ${client.token}` } }
      const asked = request(options, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.once('end', () => resolve((JSON.parse(text) as Single<LiveJson>).data['base_url']))
      })
      asked.once('error', reject)
      asked.end()
    })
  t.is(await baseUrlFor('evil.example'), '')
  t.is(await baseUrlFor('192.168.1.20:8080'), '', 'another address than the one that is bound')
  t.is(await baseUrlFor(`evil.example:x@127.0.0.1:${port}`), '')
  t.is(await baseUrlFor(`localhost:${port}`), `ws://localhost:${port}`)
})

test('each mistake is named at its place and nothing is made [R49–R53 R66 R71 R73]', async (t) => {
  const client = await service.user('mistaken')
  const url = (audio_format: unknown, audio_url: unknown): Json => ({ ...MINIMAL, audio_format, audio_url })
  const config = (name: string, value: unknown): readonly [Json, string] => [
    { ...MINIMAL, config: { [name]: value } },
    `body.config.${name}`,
  ]
  const cases: ReadonlyArray<readonly [Json, string]> = [
    [{ language: 'en' }, 'body.model'],
    [{ model: 'demo-en' }, 'body.language'],
    [{ ...MINIMAL, model: null }, 'body.model'],
    [{ ...MINIMAL, model: 1 }, 'body.model'],
    [url('mp3', undefined), 'body.audio_format'],
    [url('RAW', undefined), 'body.audio_format'],
    ...['hls', 'rtmp', 'rtsp'].flatMap((format) =>
      [undefined, null, ''].map((value) => [url(format, value), 'body.audio_url'] as const),
    ),
    [url('hls', 'rtmp://example.com/a'), 'body.audio_url'],
    [url('hls', 'ftp://example.com/a'), 'body.audio_url'],
    [url('hls', 'file:///etc/passwd'), 'body.audio_url'],
    [url('hls', 'example.com/a.m3u8'), 'body.audio_url'],
    [url('hls', `https://example.com/${'a'.repeat(2048)}`), 'body.audio_url'],
    [url('rtmp', 'https://example.com/a'), 'body.audio_url'],
    [url('rtsp', 'rtmps://example.com/a'), 'body.audio_url'],
    [url('hls', 7), 'body.audio_url'],
    [{ ...MINIMAL, translations: 'fr' }, 'body.translations'],
    [{ ...MINIMAL, auto_start: 'yes' }, 'body.auto_start'],
    [{ ...MINIMAL, live_retention: 1 }, 'body.live_retention'],
    [{ ...MINIMAL, config: [] }, 'body.config'],
    config('vad', 'true'),
    config('mode', 'both'),
    config('punctuation', 0),
    config('min_buffer', 0.09),
    config('min_buffer', 31),
    config('min_buffer', '1'),
    config('max_buffer', 0.4),
    config('max_buffer', 30.1),
    config('buffer_timeout', 0),
    config('buffer_timeout', 31),
    config('max_delay', 0.4),
    config('max_delay', 61),
    config('max_chars', 0),
    config('max_chars', 1001),
    config('max_chars', 1.5),
    config('max_chars', '80'),
    config('max_lines', 0),
    config('max_lines', 101),
    [{ ...MINIMAL, config: { min_buffer: 5, max_buffer: 4 } }, 'body.config.min_buffer'],
    [{ ...MINIMAL, config: { min_buffer: 11 } }, 'body.config.min_buffer'],
    ...['abc', 'a'.repeat(129), 'with space', 'ünicode', 'a/b/c/d'].map(
      (listener_token) => [{ ...MINIMAL, listener_token }, 'body.listener_token'] as const,
    ),
    [{ ...MINIMAL, listener_token: 'one-token', custom_listener_token: 'another' }, 'body.listener_token'],
    [{ ...MINIMAL, background_color: '#ffffff' }, 'body.background_color'],
    [{ ...MINIMAL, color_text: 'red;x:url()' }, 'body.color_text'],
    [{ ...MINIMAL, size_text: '12px' }, 'body.size_text'],
    [{ ...MINIMAL, size_text: 10_000 }, 'body.size_text'],
  ]
  for (const [request, place] of cases) {
    const { status, body } = await client.post('/lives', request)
    t.is(status, 422, JSON.stringify(request))
    const issues = body['detail'] as ReadonlyArray<Json>
    for (const issue of issues) t.deepEqual(Object.keys(issue), ['type', 'loc', 'msg'], 'R7, in the order of A3')
    t.true(
      complaints(body).every((where) => String(where).startsWith(place)),
      `${JSON.stringify(request)}: ${JSON.stringify(body)}`,
    )
  }
  const infinite = await client.request('POST', '/lives', {
    headers: { 'content-type': 'application/json' },
    body: '{"model":"demo-en","language":"en","config":{"max_delay":1e999}}',
  })
  t.is(infinite.status, 422)
  t.deepEqual(complaints(infinite.body), ['body.config.max_delay'])
  t.is(await total(client), 0)
})

test('optional members have defaults, and members without effect are ignored [R46 R52 R53 R67 R69 R70]', async (t) => {
  const client = await service.user('optional')
  t.is((await client.createLive({ audio_url: 'https://example.com/a' }))['audio_url'], null)
  t.is((await client.createLive({ auto_start: true }))['auto_start'], false)
  const optional = [
    'audio_format',
    'audio_url',
    'translations',
    'auto_start',
    'live_retention',
    'config',
    'listener_token',
  ]
  t.is((await client.createLive(Object.fromEntries(optional.map((name) => [name, null])))).status, 'pending', 'D18')
  for (const [audio_format, audio_url] of [
    ['hls', 'http://example.com/a'],
    ['hls', 'HTTPS://example.com/a'],
    ['rtmp', 'rtmp://example.com/a'],
    ['rtmp', 'rtmps://example.com/a'],
    ['rtsp', 'rtsp://example.com/a'],
    ['rtsp', 'rtsps://user:pass@example.com/a'],
  ] as const)
    t.is((await client.createLive({ audio_format, audio_url }))['audio_url'], audio_url)
  const { config } = await client.createLive({ config: { mode: 'final', max_chars: 42 } })
  t.like(config, { mode: 'final', max_chars: 42, max_lines: 2, vad: true, punctuation: true })
  t.is(Object.keys(config).length, 9)

  t.is(
    (await client.put<Listing<LiveJson>>('/lives/finish-by-audio_url', { audio_url: 'http://example.com/a' })).body.data
      .length,
    1,
  )
  t.is((await client.createLive({ live_retention: true }))['live_retention'], false, 'D19')
  const keeper = await service.user('keeper', { permissions: ['user_retention'] })
  t.is((await keeper.createLive({ live_retention: true }))['live_retention'], true)
  t.is((await keeper.createLive())['live_retention'], false)
})

test('an unknown or inactive model, language or pair is 404, checked in this order [R54 R55]', async (t) => {
  const client = await service.user('seeker')
  const cases: ReadonlyArray<readonly [Json, string]> = [
    [{ model: 'unheard', language: 'en' }, 'Model not found'],
    [{ model: 'tiny', language: 'en' }, 'Model not found'],
    [{ model: 'Demo-En', language: 'en' }, 'Model not found'],
    [{ model: 'unheard', language: 'xx' }, 'Model not found'],
    [{ model: 'demo-en', language: 'xx' }, 'Language not found'],
    [{ model: 'demo-en', language: 'EN' }, 'Language not found'],
    [{ model: 'demo-en', language: 'jw' }, 'Language not found'],
    [{ model: 'demo-en', language: 'fr' }, 'Language not supported by model: demo-en, fr'],
    [{ ...MINIMAL, translations: ['de'] }, 'Translation not found: en->de'],
    [{ ...MINIMAL, translations: ['en'] }, 'Translation not found: en->en'],
    [{ ...MINIMAL, translations: ['xx', 'de', 'xx'] }, 'Translation not found: en->xx'],
  ]
  for (const [request, detail] of cases) {
    const { status, body } = await client.post('/lives', request)
    t.deepEqual({ status, body }, { status: 404, body: { detail } }, JSON.stringify(request))
  }
  t.is(await total(client), 0)
})

test('finishing a session is final, and status filters select it [R13 R80 R83 R84 R85]', async (t) => {
  const client = await service.user('filtering')
  const [ended, open] = [await client.createLive(), await client.createLive()]
  const finished = await client.put<Single<LiveJson>>(`/lives/${ended.id}/finish`)
  t.is(finished.status, 200)
  t.like(finished.body.data, { status: 'finished', vram: 0 })
  t.regex(String(finished.body.data['updated_at']), DATE)
  t.true(String(finished.body.data['updated_at']) >= ended.created_at, 'R13')
  t.deepEqual((await client.put(`/lives/${ended.id}/finish`)).body, finished.body, 'a terminal live stays as it is')
  t.deepEqual((await client.get(`/lives/${ended.id}`)).body, finished.body)

  const ids = async (query: string): Promise<unknown> => {
    const { data, pagination } = (await client.get<Listing<LiveJson>>(`/lives/${query}`)).body
    return [data.map(({ id }) => id), pagination.total_items]
  }
  t.deepEqual(await ids(''), [[open.id, ended.id], 2])
  t.deepEqual(await ids('?status=pending'), [[open.id], 1])
  t.deepEqual(await ids('?status=finished'), [[ended.id], 1])
  t.deepEqual(await ids('?status=finished&status=pending&status=finished'), [[open.id, ended.id], 2])
  t.deepEqual(await ids('?status=active'), [[], 0])
  t.deepEqual(await ids('?status=error'), [[], 0])
  for (const bad of ['done', '', 'Pending', 'pending,finished']) {
    const { status, body } = await client.get(`/lives/?status=${bad}`)
    t.is(status, 422)
    t.regex(String(complaints(body)), /^query\.status/)
  }
  t.is((await client.put('/lives/none/finish')).status, 422)
})
