import test from 'ava'
import type { Json, Listing, Single } from '../../support/service/client.ts'
import { ADMIN } from '../../support/service/service.ts'
import { sharedTestService } from '../../support/service/shared-service.ts'

const service = sharedTestService()

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/

const rows = async (path: string): Promise<Listing<Json>> => {
  const { status, body } = await service.anonymous().get<Listing<Json>>(path)
  if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`)
  return body
}

const identities = async (path: string): Promise<ReadonlyArray<unknown>> =>
  (await rows(path)).data.map((row) => row['iso_639_1'] ?? row['name'])

test('the list has 98 complete languages with real two-letter codes [R12 R16 R37 R39]', async (t) => {
  const { data, pagination } = await rows('/languages/')
  t.deepEqual(pagination, { total_items: 98, total_pages: 1, current_page: 1, per_page: 100 })
  t.is(data.length, 98)
  const codes = data.map((row) => String(row['iso_639_1']))
  t.is(new Set(codes).size, 98)
  t.deepEqual(
    codes.filter(
      (code) => !/^[a-z]{2}$/.test(code) || new Intl.DisplayNames('en', { type: 'language' }).of(code) === code,
    ),
    [],
  )
  t.deepEqual(['haw', 'yue', 'jw'].filter((code) => codes.includes(code)), [])
  t.true(codes.includes('jv'))
  for (const row of data) {
    t.deepEqual(Object.keys(row), ['id', 'iso_639_1', 'name', 'active', 'created_at', 'updated_at'])
    t.true(Number.isSafeInteger(row['id']) && Number(row['id']) > 0)
    t.is(typeof row['active'], 'boolean')
    t.regex(String(row['name']), /^[A-Z][A-Za-z ]+$/)
    t.regex(String(row['created_at']), DATE)
    t.is(row['updated_at'], null)
  }
  const ids = data.map((row) => Number(row['id']))
  t.deepEqual(ids, ids.toSorted((a, b) => a - b), 'ordered by id')
})

test('both language filters are exact and combine with AND [R22 R38]', async (t) => {
  t.deepEqual(await identities('/languages/?name=French'), ['fr'])
  t.deepEqual(await identities('/languages/?name=fren'), [])
  t.deepEqual(await identities('/languages/?name=french'), [])
  t.deepEqual(await identities('/languages/?iso_639_1=fr'), ['fr'])
  t.deepEqual(await identities('/languages/?iso_639_1=FR'), [])
  t.deepEqual(await identities('/languages/?iso_639_1=fr&name=French'), ['fr'])
  t.deepEqual(await identities('/languages/?iso_639_1=fr&name=German'), [])
  const { pagination } = await rows('/languages/?iso_639_1=fr&limit=10')
  t.deepEqual(pagination, { total_items: 1, total_pages: 1, current_page: 1, per_page: 10 })
})

test(
  'the five documented models are listed inactive, demo-en is active, and the filter is exact [R40 R41 R44 R45]',
  async (t) => {
    const { data } = await rows('/models')
    t.deepEqual((await rows('/models/')).data, data)
    const names = data.map((row) => String(row['name']))
    t.is(new Set(names).size, names.length)
    for (const name of ['tiny', 'medium', 'large_v1', 'large_v2', 'large-v3'])
      t.is(data.find((row) => row['name'] === name)?.['active'], false, name)
    t.is(data.find((row) => row['name'] === 'demo-en')?.['active'], true)
    for (const row of data) {
      t.deepEqual(Object.keys(row), ['id', 'name', 'active', 'vram', 'created_at', 'updated_at'])
      t.true(Number.isSafeInteger(row['vram']) && Number(row['vram']) > 0)
      t.regex(String(row['created_at']), DATE)
    }
    t.deepEqual(await identities('/models?name=large-v3'), ['large-v3'])
    t.deepEqual(await identities('/models/?name=large_v3'), [])
    t.true((await rows('/languages/?iso_639_1=en')).data[0]?.['active'])
  },
)

test('a filter without a matching translation pair returns an empty list [R16 R21 R43]', async (t) => {
  const empty = { data: [], pagination: { total_items: 0, total_pages: 0, current_page: 1, per_page: 100 } }
  for (const query of ['?lang_from=ja&lang_to=fr', '?lang_to=en', '?lang_from=nowhere', '?lang_from=EN'])
    t.deepEqual((await service.anonymous().get(`/translations/${query}`)).body, empty)
})

test('version, health and metrics are public [R3 R24 R122 D34]', async (t) => {
  const version = await service.anonymous().get('/version')
  t.deepEqual(version.body, { version: '0.6.2' })
  t.regex(version.headers.get('x-service-version') ?? '', /^\d+\.\d+\.\d+/)
  t.is((await service.anonymous().get('/health/live')).status, 200)
  const ready = await service.anonymous().get('/health/ready')
  t.is(ready.status, 200)
  t.is(ready.body['status'], 'ok')
  const metrics = await service.anonymous().get<string>('/metrics')
  t.regex(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  t.regex(metrics.body, /^stenolog_vram_total_megabytes 100000$/m)
  t.regex(metrics.body, /^stenolog_projection_lag_seconds\{projection="[a-z-]+"\} [\d.e-]+$/m)
})

const PUBLIC_PATHS = [
  '/languages/', '/models', '/translations/', '/version', '/health/live', '/health/ready', '/metrics', '/setup',
]

test('bad credentials on a public route are ignored [R24]', async (t) => {
  for (const headers of [
    { authorization: 'Bearer nonsense' },
    { 'x-api-key': 'nonsense' },
    { authorization: 'Basic eDp5' },
    { 'authorization': 'nonsense', 'x-api-key': 'nonsense' },
  ])
    for (const path of PUBLIC_PATHS)
      t.is((await service.anonymous().request('GET', path, { headers })).status, 200, path)
})

test('both prefixes and a trailing slash give equal answers without a redirect [R1 R2]', async (t) => {
  const client = await service.user('reader')
  await client.createLive()
  for (const path of [
    '/languages',
    '/models',
    '/translations',
    '/version',
    '/lives',
    '/lives/999',
    '/users',
    '/health/live',
    '/nowhere',
  ]) {
    const answers = await Promise.all(
      ['', '/api/v1'].flatMap((prefix) =>
        ['', '/'].map((slash) => client.request<unknown>('GET', prefix + path + slash)),
      ),
    )
    for (const { status, body } of answers) {
      t.is(status, { '/lives/999': 404, '/nowhere': 404, '/users': 403 }[path] ?? 200, path)
      t.deepEqual(body, answers[0]?.body, path)
    }
  }
  for (const path of ['/lives', '/lives/', '/api/v1/lives', '/api/v1/lives/'])
    t.is((await client.post(path, { model: 'demo-en', language: 'en' })).status, 200, 'the body is kept')
  for (const path of ['/login/', '/api/v1/login'])
    t.is((await service.anonymous().form(path, ADMIN)).status, 200, 'the form is kept')
})

test(
  'limit is capped at 1000, bad values are 422 with their location, and a page after the end is empty [R18 R19 R21]',
  async (t) => {
    t.is((await rows('/languages/?limit=5000')).pagination.per_page, 1000)
    t.is((await rows('/languages/?limit=1')).data.length, 1)
    t.deepEqual((await rows('/languages/?limit=1')).pagination, {
      total_items: 98,
      total_pages: 98,
      current_page: 1,
      per_page: 1,
    })
    t.deepEqual(await rows('/languages/?skip=500'), {
      data: [],
      pagination: { total_items: 98, total_pages: 1, current_page: 6, per_page: 100 },
    })
    const admin = await service.admin()
    const lists = ['/languages/', '/models', '/translations/', '/lives/', '/users/'].map(
      (path) => ['GET', path] as const,
    )
    for (const [method, path] of [...lists, ['PUT', '/lives/finish-by-audio_url'] as const])
      for (const [name, values] of [
        ['limit', ['0', '-1', 'abc', '', '1.5', '1e2', '%201', '+1']],
        ['skip', ['-1', '1.5', 'abc', '', '2147483648']],
      ] as const)
        for (const value of values) {
          const { status, body } = await admin.request<{ readonly detail: ReadonlyArray<{ readonly loc: unknown }> }>(
            method,
            `${path}?${name}=${value}`,
            method === 'PUT' ? { headers: { 'content-type': 'application/json' }, body: '{"audio_url":"x"}' } : {},
          )
          t.is(status, 422, `${path} ${name}=${value}`)
          t.deepEqual(
            body.detail.map(({ loc }) => loc),
            [['query', name]],
          )
        }
  },
)

test('unknown parameters and members are ignored and not returned [R5]', async (t) => {
  t.is((await rows('/languages/?unknown=1&iso_639_1=fr')).data.length, 1)
  const admin = await service.admin()
  const request = { model: 'demo-en', language: 'en', unknown: 'of-it', config: { unknown: 'of-it' } }
  const { body, status } = await admin.post('/lives', request)
  t.is(status, 200)
  t.false(JSON.stringify(body).includes('unknown'))
})

test('an unknown path is 404 and an unsupported method 405 [R9]', async (t) => {
  const unknown = await service.anonymous().get('/nothing/here')
  t.is(unknown.status, 404)
  t.deepEqual(unknown.body, { detail: 'Not Found' })
  const method = await service.anonymous().request('DELETE', '/languages/')
  t.is(method.status, 405)
  t.deepEqual(method.body, { detail: 'Method Not Allowed' })
  t.regex(method.headers.get('allow') ?? '', /GET/)
})

test('removed routes are 404 for every method, with and without credentials [R123]', async (t) => {
  const client = await service.user('nostalgic')
  const paths = ['', '/', '/all', '/by-session/1', '/1', '/1/'].flatMap((rest) =>
    ['', '/api/v1'].map((prefix) => `${prefix}/save_transcriptions${rest}`),
  )
  for (const path of paths)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      for (const who of [service.anonymous(), client]) {
        const { status, body } = await who.request(method, path)
        t.deepEqual([status, body], [404, { detail: 'Not Found' }], `${method} ${path}`)
      }
})

test('single resources, lists and deletions have their documented JSON shapes [R3 R4 R16 R17]', async (t) => {
  const admin = await service.user('formal', { permissions: ['admin'] })
  const idOf = async (path: string, body: Json) =>
    (await admin.post<Single<{ readonly id: number }>>(path, body)).body.data.id
  const live = await idOf('/lives', { model: 'demo-en', language: 'en' })
  const profile = await idOf('/user-live-configs', { name: 'Talk' })
  const token = await idOf('/tokens', { name: 'ci' })
  const hls = { model: 'demo-en', language: 'en', audio_format: 'hls', audio_url: 'http://media.example/a' }
  const other = await idOf('/lives', hls)
  const single = ['data']
  const list = ['data', 'pagination']
  const requests: ReadonlyArray<readonly [string, string, Json | null, ReadonlyArray<string>]> = [
    ...[
      'languages',
      'models',
      'translations',
      'lives',
      'user-live-configs',
      'tokens',
      'users',
      'admin/lives',
      `lives/${live}/history`,
    ].map((path) => ['GET', `/${path}/`, null, list] as const),
    ['PUT', '/lives/finish-by-audio_url', { audio_url: hls.audio_url }, list],
    ...['users/me', `lives/${live}`, `lives/${other}`, `user-live-configs/${profile}`].map(
      (path) => ['GET', `/${path}`, null, single] as const,
    ),
    ['PUT', `/lives/${live}/finish`, {}, single],
    ['PUT', `/user-live-configs/${profile}`, { name: 'Show' }, single],
    ['PUT', `/tokens/${token}`, { name: 'nightly' }, single],
    ['PUT', '/users/1', { max_sessions: 10 }, single],
    ...[`lives/${live}`, `user-live-configs/${profile}`, `tokens/${token}`].map(
      (path) => ['DELETE', `/${path}`, null, ['message']] as const,
    ),
  ]
  for (const [method, path, body, members] of requests) {
    const headers = { 'content-type': 'application/json' }
    const answer = await admin.request<Listing<unknown> & { readonly message: unknown }>(
      method,
      path,
      body === null ? {} : { headers, body: JSON.stringify(body) },
    )
    t.is(answer.status, 200, `${method} ${path}`)
    t.regex(answer.headers.get('content-type') ?? '', /^application\/json(; charset=utf-8)?$/)
    t.deepEqual(Object.keys(answer.body), members, `${method} ${path}`)
    if (members === single) t.false(Array.isArray(answer.body.data))
    if (members === list) {
      t.true(Array.isArray(answer.body.data))
      t.deepEqual(Object.keys(answer.body.pagination), ['total_items', 'total_pages', 'current_page', 'per_page'])
      t.true(Object.values(answer.body.pagination).every(Number.isInteger))
      t.like(answer.body.pagination, { current_page: 1, per_page: 100 }, 'the default page')
    }
    if (method === 'DELETE') t.is(typeof answer.body.message, 'string')
  }
})

test('every refusal except 422 has only a detail text [R6]', async (t) => {
  const client = await service.user('refused', { max_sessions: 0 })
  const [profile] = (await client.get<Listing<{ readonly id: number }>>('/user-live-configs/')).body.data
  const headers = { 'content-type': 'application/json', 'authorization': `Bearer ${client.token}` }
  const minimal = { model: 'demo-en', language: 'en' }
  const answers = [
    [400, await client.request('DELETE', `/user-live-configs/${profile?.id}`, { headers })],
    [401, await service.anonymous().get('/lives/')],
    [401, await service.anonymous().request('GET', '/lives/', { headers: { 'x-api-key': 'bad' } })],
    [401, await service.anonymous().form('/login', { username: 'nobody', password: 'wrong' })],
    [403, await client.get('/users/')],
    [403, await client.post('/lives', minimal)],
    [404, await client.get('/lives/4711')],
    [404, await client.post('/lives', { ...minimal, model: 'unknown' })],
    [404, await client.get('/nowhere')],
    [405, await client.request('DELETE', '/lives')],
    [409, await (await service.admin()).post('/users/', { username: 'refused', password: 'a password' })],
    [413, await client.request('POST', '/lives', { headers, body: JSON.stringify({ model: 'x'.repeat(70_000) }) })],
  ] as const
  for (const [expected, { status, headers: sent, body }] of answers) {
    t.is(status, expected)
    t.deepEqual(Object.keys(body), ['detail'], `${status}`)
    t.is(typeof body['detail'], 'string')
    t.regex(sent.get('content-type') ?? '', /^application\/json/)
  }
})
