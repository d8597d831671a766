import test from 'ava'
import type { Json, Listing, Single } from '../../../support/service/client.ts'
import { ADMIN } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const rows = async (path: string): Promise<Listing<Json>> => {
  const { status, body } = await service.anonymous().get<Listing<Json>>(path)
  if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`)
  return body
}

const PUBLIC_PATHS = [
  '/languages/', '/models', '/translations/', '/version', '/health/live', '/health/ready', '/metrics', '/setup',
]

test('bad credentials on a public route are ignored', async (t) => {
  for (const headers of [
    { authorization: 'Bearer nonsense' },
    { 'x-api-key': 'nonsense' },
    { authorization: 'Basic eDp5' },
    { 'authorization': 'nonsense', 'x-api-key': 'nonsense' },
  ])
    for (const path of PUBLIC_PATHS) {
      const { status, body } = await service.anonymous().request('GET', path, { headers })
      t.is(status, 200, `${path}: ${JSON.stringify(body)}`)
    }
})

test('both prefixes and a trailing slash give equal answers without a redirect', async (t) => {
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

test('unknown parameters and members are ignored and not returned', async (t) => {
  t.is((await rows('/languages/?unknown=1&iso_639_1=fr')).data.length, 1)
  const admin = await service.admin()
  const request = { model: 'demo-en', language: 'en', unknown: 'unknown', config: { unknown: 'unknown' } }
  const { body, status } = await admin.post('/lives', request)
  t.is(status, 200)
  t.false(JSON.stringify(body).includes('unknown'))
})

test('an unknown path is 404 and an unsupported method 405', async (t) => {
  const unknown = await service.anonymous().get('/nothing/here')
  t.is(unknown.status, 404)
  t.deepEqual(unknown.body, { detail: 'Not Found' })
  const method = await service.anonymous().request('DELETE', '/languages/')
  t.is(method.status, 405)
  t.deepEqual(method.body, { detail: 'Method Not Allowed' })
  t.regex(method.headers.get('allow') ?? '', /GET/)
})

test('removed routes are 404 for every method, with and without credentials', async (t) => {
  const client = await service.user('nostalgic')
  const paths = ['', '/', '/all', '/by-session/1', '/1', '/1/'].flatMap((rest) =>
    ['', '/api/v1'].map((prefix) => `${prefix}/save_transcriptions${rest}`),
  )
  for (const path of paths)
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
      for (const caller of [service.anonymous(), client]) {
        const { status, body } = await caller.request(method, path)
        t.deepEqual([status, body], [404, { detail: 'Not Found' }], `${method} ${path}`)
      }
})

test('single resources, lists and deletions have their documented JSON shapes', async (t) => {
  const admin = await service.user('formal', { permissions: ['admin'] })
  const idOf = async (path: string, body: Json) =>
    (await admin.post<Single<{ readonly id: number }>>(path, body)).body.data.id
  const live = await idOf('/lives', { model: 'demo-en', language: 'en' })
  const profile = await idOf('/user-live-configs', { name: 'Talk' })
  const token = await idOf('/tokens', { name: 'ci' })
  const hls = { model: 'demo-en', language: 'en', audio_format: 'hls', audio_url: 'http://media.example/a' }
  const pulled = await idOf('/lives', hls)
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
    ...['users/me', `lives/${live}`, `lives/${pulled}`, `user-live-configs/${profile}`].map(
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

test('every refusal except 422 has only a detail text', async (t) => {
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
