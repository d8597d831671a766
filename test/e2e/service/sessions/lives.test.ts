import { request } from 'node:http'
import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const MINIMAL = { model: 'demo-en', language: 'en' }
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/

const total = async (client: Client): Promise<number> =>
  (await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items

test('the smallest request creates a complete session', async (t) => {
  const client = await service.user('minimal')
  const { status, body } = await client.post<Single<LiveJson>>('/lives', MINIMAL)
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['data'])
  const { id, created_at, sender_token, listener_token, model, language, vram, ...rest } = body.data
  const { data: models } = (await client.get<Listing<Json>>('/models?name=demo-en')).body
  const { data: languages } = (await client.get<Listing<Json>>('/languages/?iso_639_1=en')).body
  t.deepEqual<unknown, unknown>({ ...model, options: models[0]?.['options'] }, models[0])
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

test('a session has an iframe snippet only if it has a display setting', async (t) => {
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

test('a Host that is not allowed gets no base_url', async (t) => {
  const client = await service.user('host')
  const { port } = new URL(service.url())
  const live = await client.createLive()
  // fetch cannot set the Host header.
  const baseUrlFor = (host: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const options = { port, path: `/lives/${live.id}`, headers: { host, authorization: `Bearer ${client.token}` } }
      const pending = request(options, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.once('end', () => resolve((JSON.parse(text) as Single<LiveJson>).data['base_url']))
      })
      pending.once('error', reject)
      pending.end()
    })
  t.is(await baseUrlFor('evil.example'), '')
  t.is(await baseUrlFor('192.168.1.20:8080'), '', 'an address that the service does not listen on gets no base_url')
  t.is(await baseUrlFor(`evil.example:x@127.0.0.1:${port}`), '')
  t.is(await baseUrlFor(`localhost:${port}`), `ws://localhost:${port}`)
})

test('optional members have defaults, and members without effect are ignored', async (t) => {
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
  t.is(
    (await client.createLive(Object.fromEntries(optional.map((name) => [name, null])))).status,
    'pending',
    'null has the same effect as an omitted member',
  )
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
  t.is(
    (await client.createLive({ live_retention: true }))['live_retention'],
    false,
    'live_retention is ignored without the permission',
  )
  const keeper = await service.user('keeper', { permissions: ['user_retention'] })
  t.is((await keeper.createLive({ live_retention: true }))['live_retention'], true)
  t.is((await keeper.createLive())['live_retention'], false)
})

test('an unknown or inactive model, language or pair is 404, checked in this order', async (t) => {
  const client = await service.user('seeker')
  const cases: ReadonlyArray<readonly [Json, string]> = [
    [{ model: 'unknown', language: 'en' }, 'Model not found'],
    [{ model: 'tiny', language: 'en' }, 'Model not found'],
    [{ model: 'Demo-En', language: 'en' }, 'Model not found'],
    [{ model: 'unknown', language: 'xx' }, 'Model not found'],
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

test('a finished session stays finished, and the status filters find it', async (t) => {
  const client = await service.user('filtering')
  const [ended, open] = [await client.createLive(), await client.createLive()]
  const finished = await client.put<Single<LiveJson>>(`/lives/${ended.id}/finish`)
  t.is(finished.status, 200)
  t.like(finished.body.data, { status: 'finished', vram: 0 })
  t.regex(String(finished.body.data['updated_at']), DATE)
  t.true(String(finished.body.data['updated_at']) >= ended.created_at, 'updated_at is not before created_at')
  t.deepEqual((await client.put(`/lives/${ended.id}/finish`)).body, finished.body, 'a second finish changes nothing')
  t.deepEqual((await client.get(`/lives/${ended.id}`)).body, finished.body)

  const idsAndTotal = async (query: string): Promise<unknown> => {
    const { data, pagination } = (await client.get<Listing<LiveJson>>(`/lives/${query}`)).body
    return [data.map(({ id }) => id), pagination.total_items]
  }
  t.deepEqual(await idsAndTotal(''), [[open.id, ended.id], 2])
  t.deepEqual(await idsAndTotal('?status=pending'), [[open.id], 1])
  t.deepEqual(await idsAndTotal('?status=finished'), [[ended.id], 1])
  t.deepEqual(await idsAndTotal('?status=finished&status=pending&status=finished'), [[open.id, ended.id], 2])
  t.deepEqual(await idsAndTotal('?status=active'), [[], 0])
  t.deepEqual(await idsAndTotal('?status=error'), [[], 0])
  const msg = "Input should be 'pending', 'active', 'finished' or 'error'"
  for (const bad of ['done', '', 'Pending', 'pending,finished', 'pending&status=over']) {
    const { status, body } = await client.get(`/lives/?status=${bad}`)
    t.deepEqual([status, body], [422, { detail: [{ type: 'enum', loc: ['query', 'status'], msg }] }], bad)
  }
  t.is((await client.put('/lives/none/finish')).status, 422)
})
