import assert from 'node:assert/strict'
import test from 'ava'
import { createClient } from '../support/client.ts'
import type { Answer, Client, Json, Listing, Single } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { runTestService, startTestService } from '../support/service.ts'

interface TokenJson extends Json {
  readonly id: number
  readonly name: string
  readonly token_prefix: string
  readonly is_active: boolean
  readonly last_used_at: string | null
}
interface Issued extends TokenJson {
  readonly token: string
}
type Tokens = Listing<TokenJson>
type Issues = { readonly detail: ReadonlyArray<{ readonly loc: ReadonlyArray<string | number> }> }

const PATH = '/tokens/'
const MEMBERS = ['created_at', 'expires_at', 'id', 'is_active', 'last_used_at', 'name', 'token_prefix']
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/
const NOT_VALID = { detail: 'Could not validate credentials' }
const NOT_FOUND = { detail: 'Token not found' }
const NO_KEYS = { detail: 'API keys are not accepted here' }
const FAR = '2999-01-01T00:00:00Z'

const service = await runTestService()
test.after.always(() => service.dispose())

const issue = async (client: Client, members: Json = { name: 'ci' }): Promise<Issued> => {
  const { status, body } = await client.post<Single<Issued>>(PATH, members)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}
const withKey = <Body = Json>(key: string, path: string, method = 'GET', body?: Json): Promise<Answer<Body>> =>
  createClient(service.url()).request<Body>(method, path, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const remove = (client: Client, id: number | string) =>
  client.request('DELETE', `${PATH}${id}`, { headers: { authorization: `Bearer ${client.token}` } })
const listed = async (client: Client) => (await client.get<Tokens>(PATH)).body

test('R116, R117: the secret comes once, in the answer to its creation; the list has seven members and neither it nor a hash', async (t) => {
  const client = await service.user('issuer')
  const made = await issue(client, { name: 'ci 🔑', id: 1, is_active: false, token: 'mine', unknown: 'x' })
  const { token, ...record } = made
  t.regex(token, /^lt_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/)
  t.is(made.token_prefix, token.slice(0, 15))
  t.like(made, { name: 'ci 🔑', is_active: true, expires_at: null, last_used_at: null })
  t.regex(String(made['created_at']), DATE)
  t.deepEqual(Object.keys(record).toSorted(), MEMBERS)
  const { data } = await listed(client)
  t.deepEqual(data, [record])
  const renamed = await client.put<Single<TokenJson>>(`${PATH}${made.id}`, { name: 'nightly' })
  t.deepEqual(renamed.body, { data: { ...record, name: 'nightly' } })
  t.deepEqual((await listed(client)).data, [renamed.body.data])
})

test('R108, D31: a token needs a name of 1 to 100 characters', async (t) => {
  const client = await service.user('namer')
  for (const body of [{}, { name: '' }, { name: null }, { name: 7 }, { name: 'a'.repeat(101) }]) {
    const answer = await client.post<Issues>(PATH, body)
    t.is(answer.status, 422, JSON.stringify(body))
    t.deepEqual(answer.body.detail.map(({ loc }) => loc), [['body', 'name']])
  }
  t.is((await issue(client, { name: '🔑'.repeat(100) })).name, '🔑'.repeat(100))
  t.is((await listed(client)).pagination.total_items, 1)
})

test('R118: a token lives until its date, or for ever; a date that is past or none is refused', async (t) => {
  const client = await service.user('expirer')
  t.is((await issue(client, { name: 'ever', expires_at: null }))['expires_at'], null)
  t.is((await issue(client, { name: 'long', expires_at: '2999-01-01T01:30:00.5+02:00' }))['expires_at'], '2998-12-31T23:30:00.500000+00:00')
  const bad = ['2020-01-01T00:00:00Z', new Date().toISOString(), 'tomorrow', '2999-01-01', '2999-01-01T00:00:00', '2999-02-30T00:00:00Z', '', 4e9, true]
  for (const expires_at of bad) {
    const answer = await client.post<Issues>(PATH, { name: 'ci', expires_at })
    t.is(answer.status, 422, String(expires_at))
    t.deepEqual(answer.body.detail.map(({ loc }) => loc), [['body', 'expires_at']])
  }
  t.is((await listed(client)).pagination.total_items, 2)
})

test('R30: an API key opens the private routes as its user', async (t) => {
  const client = await service.user('caller')
  const { token } = await issue(client)
  const live = await withKey<Single<{ readonly id: number }>>(token, '/lives', 'POST', { model: 'demo-en', language: 'en' })
  t.is(live.status, 200)
  t.deepEqual((await client.get<Listing<Json>>('/lives/')).body.data.map(({ id }) => id), [live.body.data.id])
  t.is((await withKey(token, `/lives/${live.body.data.id}/finish`, 'PUT')).status, 200)
  t.is((await withKey(token, '/lives/finish-by-audio_url', 'PUT', { audio_url: 'http://host/a' })).status, 200)
  const [profile] = (await withKey<Listing<{ readonly id: number }>>(token, '/user-live-configs/')).body.data
  t.deepEqual((await client.get<Listing<{ readonly id: number }>>('/user-live-configs/')).body.data[0]?.id, profile?.id)
  t.is((await withKey(token, '/user-live-configs/', 'POST', { name: 'by key' })).status, 200)
  t.is((await withKey(token, `/user-live-configs/${profile?.id}`, 'PUT', { max_chars: 40 })).status, 200)
  t.is((await withKey(token, `/user-live-configs/${profile?.id}`, 'DELETE')).status, 200)
  t.is((await withKey<Tokens>(token, PATH)).body.data.length, 1)
})

test('R31: Authorization alone decides where it is sent; an API token is good as Bearer', async (t) => {
  const client = await service.user('bearer')
  const { token } = await issue(client)
  const statusWith = async (headers: Record<string, string>) => (await service.anonymous().request('GET', '/lives/', { headers })).status
  t.is(await statusWith({ authorization: `Bearer ${token}` }), 200)
  t.is(await statusWith({ authorization: `bearer ${token}`, 'x-api-key': 'bad' }), 200)
  t.is(await statusWith({ authorization: 'Bearer bad', 'x-api-key': token }), 401)
  t.is(await statusWith({ authorization: `Basic ${token}`, 'x-api-key': token }), 401)
  t.is(await statusWith({ authorization: '', 'x-api-key': token }), 401)
  t.is(await statusWith({ 'x-api-key': client.token ?? '' }), 401, 'a JWT is no API key')
})

test('R32: what is not exactly an issued token is refused', async (t) => {
  const client = await service.user('guesser')
  const { token } = await issue(client)
  const turned = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  for (const bad of ['', 'lt_', 'lt_x', token.slice(0, 15), token.slice(0, -1), `${token}A`, turned, token.toUpperCase(), `${token}, ${token}`]) {
    const answer = await withKey(bad, '/lives/')
    t.is(answer.status, 401, bad)
    t.deepEqual(answer.body, NOT_VALID)
    t.is(answer.headers.get('www-authenticate'), 'Bearer')
  }
  t.is((await withKey(token, '/lives/')).status, 200)
})

test('R32, R120: a token that is switched off is refused in the very next request, and works again once switched on', async (t) => {
  const client = await service.user('switcher')
  const { id, token } = await issue(client)
  for (let round = 0; round < 10; round++) {
    const off = await client.put<Single<TokenJson>>(`${PATH}${id}`, { is_active: false })
    t.deepEqual([off.status, off.body.data.is_active], [200, false])
    const refused = await withKey(token, '/lives/')
    t.deepEqual([refused.status, refused.body], [401, NOT_VALID])
    t.is((await createClient(service.url(), token).get('/lives/')).status, 401)
    t.is((await listed(client)).data[0]?.is_active, false)
    const on = await client.put<Single<TokenJson>>(`${PATH}${id}`, { is_active: true })
    t.deepEqual([on.status, on.body.data.is_active], [200, true])
    t.is((await withKey(token, '/lives/')).status, 200)
  }
})

test('R32: a token is refused once its date has come', async (t) => {
  const client = await service.user('short')
  const expiry = Date.now() + 12_000
  const expiresAt = new Date(expiry).toISOString()
  const { token } = await issue(client, { name: 'short', expires_at: expiresAt })
  await eventually(async () => {
    const at = Date.now()
    const { status } = await withKey(token, '/lives/')
    // Clocks of two processes agree to a few milliseconds only: near the moment itself either answer is right.
    if (Date.now() < expiry - 50) t.is(status, 200)
    if (at > expiry + 50) t.is(status, 401)
    assert.ok(at > expiry + 50)
  }, { timeoutMs: 120_000 })
})

test('R119: a revoked token is refused in the very next request, gone from the list, and its id does not come back', async (t) => {
  const client = await service.user('revoker')
  const [kept, gone] = [await issue(client), await issue(client)]
  const answer = await remove(client, gone.id)
  t.is(answer.status, 200)
  t.deepEqual(Object.keys(answer.body), ['message'])
  t.is(typeof answer.body['message'], 'string')
  t.is((await withKey(gone.token, '/lives/')).status, 401)
  t.is((await withKey(kept.token, '/lives/')).status, 200)
  t.deepEqual((await listed(client)).data.map(({ id }) => id), [kept.id])
  for (const again of [await remove(client, gone.id), await client.put(`${PATH}${gone.id}`, { is_active: true })])
    t.deepEqual([again.status, again.body], [404, NOT_FOUND])
  t.true((await issue(client)).id > gone.id, 'R14')
})

test('R36, R119: tokens of others are not listed, and unknown by id', async (t) => {
  const [owner, other] = [await service.user('owner'), await service.user('other')]
  const { id, token } = await issue(owner)
  t.deepEqual((await listed(other)).data, [])
  for (const path of [id, 0, -1, 2 ** 31 + 1, '9007199254740993', '9'.repeat(400)])
    for (const answer of [await remove(other, path), await other.put(`${PATH}${path}`, { is_active: false })])
      t.deepEqual([answer.status, answer.body], [404, NOT_FOUND], String(path))
  for (const path of ['abc', '1.5', '0x1'])
    for (const answer of [await remove(other, path), await other.put(`${PATH}${path}`, {})]) t.is(answer.status, 422, path)
  for (const method of ['PUT', 'DELETE', 'GET', 'POST'] as const)
    t.is((await service.anonymous().request(method, method === 'GET' || method === 'POST' ? PATH : `${PATH}${id}`)).status, 401)
  t.is((await withKey(token, '/lives/')).status, 200)
})

test('D18: a change of a token takes a name, a state, both or nothing; null is neither', async (t) => {
  const client = await service.user('changer')
  const { token: _, ...record } = await issue(client)
  const path = `${PATH}${record.id}`
  for (const same of [{}, { name: 'ci' }, { is_active: true, expires_at: FAR, token_prefix: 'x' }])
    t.deepEqual((await client.put(path, same)).body, { data: record })
  for (const bad of [{ name: null }, { name: '' }, { is_active: null }, { is_active: 'no' }, { is_active: 0 }]) {
    const answer = await client.put<Issues>(path, bad)
    t.is(answer.status, 422, JSON.stringify(bad))
    t.deepEqual(answer.body.detail.map(({ loc }) => loc), [['body', ...Object.keys(bad)]])
  }
  t.deepEqual((await client.put(path, { name: 'b', is_active: false })).body, { data: { ...record, name: 'b', is_active: false } })
})

test('R121: an API key can neither make keys nor change them, whatever it sends; it may list and revoke', async (t) => {
  const client = await service.user('leaked')
  const { id, token } = await issue(client)
  for (const headers of [{ 'x-api-key': token }, { authorization: `Bearer ${token}` }])
    for (const [method, path] of [['POST', PATH], ['PUT', `${PATH}${id}`]] as const)
      for (const body of ['{"name":"mine"}', '{', '{}']) {
        const answer = await service.anonymous().request(method, path, { headers: { ...headers, 'content-type': 'application/json' }, body })
        t.deepEqual([answer.status, answer.body], [403, NO_KEYS], `${method} ${body}`)
      }
  t.is((await withKey(token, '/users/')).status, 403)
  t.deepEqual((await listed(client)).data.map((one) => [one.id, one.name]), [[id, 'ci']])
  t.is((await withKey(token, `${PATH}${id}`, 'DELETE')).status, 200)
  t.is((await withKey(token, PATH)).status, 401)
})

test("R121: an admin's API key opens no admin route", async (t) => {
  const { token } = await issue(await service.admin())
  t.deepEqual((await withKey(token, '/users/')).body, NO_KEYS)
  t.is((await withKey(token, '/lives/')).status, 200)
})

test('R33: a token shows null until it is used, then when', async (t) => {
  const client = await service.user('user')
  const [used, unused] = [await issue(client), await issue(client)]
  const before = new Date().toISOString()
  for (let n = 0; n < 5; n++) t.is((await withKey(used.token, '/lives/')).status, 200)
  const last = async () => new Map((await listed(client)).data.map((one) => [one.id, one.last_used_at]))
  await eventually(async () => { assert.notEqual((await last()).get(used.id), null) })
  const at = (await last()).get(used.id) ?? ''
  t.regex(at, DATE)
  t.true(at.slice(0, 23) >= before.slice(0, 23))
  t.is((await last()).get(unused.id), null)
})

test('R16, R20, R23: tokens come in pages, newest first', async (t) => {
  const client = await service.user('pager')
  const ids = []
  for (let n = 0; n < 25; n++) ids.push((await issue(client, { name: `${n}` })).id)
  const seen = []
  for (const [page, skip] of [0, 10, 20].entries()) {
    const { body } = await client.get<Tokens>(`${PATH}?skip=${skip}&limit=10`)
    t.deepEqual(body.pagination, { total_items: 25, total_pages: 3, current_page: page + 1, per_page: 10 })
    seen.push(...body.data.map(({ id }) => id))
  }
  t.deepEqual(seen, ids.toReversed())
  const { body } = await client.get<Tokens>(`${PATH}?skip=25`)
  t.deepEqual(body, { data: [], pagination: { total_items: 25, total_pages: 1, current_page: 1, per_page: 100 } })
})

test('R14, R32: tokens and profiles outlive a kill: good ones work, ended ones do not', async (t) => {
  const own = await startTestService(t)
  const client = await own.user('survivor')
  const make = async () => (await client.post<Single<Issued>>(PATH, { name: 'ci' })).body.data
  const [good, off, gone] = [await make(), await make(), await make()]
  t.is((await client.put(`${PATH}${off.id}`, { is_active: false })).status, 200)
  t.is((await remove(client, gone.id)).status, 200)
  t.is((await client.post('/user-live-configs/', { name: 'Talk' })).status, 200)
  await own.kill()
  await own.start()
  const statusOf = async (token: string) => (await createClient(own.url(), token).get('/lives/')).status
  t.deepEqual([await statusOf(good.token), await statusOf(off.token), await statusOf(gone.token)], [200, 401, 401])
  const again = createClient(own.url(), client.token)
  t.deepEqual((await again.get<Tokens>(PATH)).body.data.map(({ id }) => id), [off.id, good.id])
  t.deepEqual((await again.get<Listing<{ readonly name: string }>>('/user-live-configs/')).body.data.map(({ name }) => name), ['Default', 'Talk'])
})
