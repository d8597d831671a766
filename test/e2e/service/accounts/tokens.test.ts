import test from 'ava'
import {
  TOKENS, issueToken, listTokens, revokeToken, withKey, type TokenJson,
} from '../../../support/service/api-tokens.ts'
import type { Listing, Single } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

type Issues = { readonly detail: ReadonlyArray<{ readonly loc: ReadonlyArray<string | number> }> }

const MEMBERS = ['created_at', 'expires_at', 'id', 'is_active', 'last_used_at', 'name', 'token_prefix']
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/
const NOT_FOUND = { detail: 'Token not found' }
const FAR_FUTURE = '2999-01-01T00:00:00Z'

const service = sharedTestService()
const url = (): string => service.url()

test('a token’s secret is returned only on creation, and lists contain neither the secret nor a hash', async (t) => {
  const client = await service.user('issuer')
  const created = await issueToken(client, { name: 'ci 🔑', id: 1, is_active: false, token: 'mine', unknown: 'x' })
  const { token, ...record } = created
  t.regex(token, /^lt_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}$/)
  t.is(created.token_prefix, token.slice(0, 15))
  t.like(created, { name: 'ci 🔑', is_active: true, expires_at: null, last_used_at: null })
  t.regex(String(created['created_at']), DATE)
  t.deepEqual(Object.keys(record).toSorted(), MEMBERS)
  const { data } = await listTokens(client)
  t.deepEqual(data, [record])
  const renamed = await client.put<Single<TokenJson>>(`${TOKENS}${created.id}`, { name: 'nightly' })
  t.deepEqual(renamed.body, { data: { ...record, name: 'nightly' } })
  t.deepEqual((await listTokens(client)).data, [renamed.body.data])
})

test('a token needs a name of 1 to 100 characters', async (t) => {
  const client = await service.user('namer')
  for (const body of [{}, { name: '' }, { name: null }, { name: 7 }, { name: 'a'.repeat(101) }]) {
    const answer = await client.post<Issues>(TOKENS, body)
    t.is(answer.status, 422, JSON.stringify(body))
    t.deepEqual(answer.body.detail.map(({ loc }) => loc), [['body', 'name']])
  }
  t.is((await issueToken(client, { name: '🔑'.repeat(100) })).name, '🔑'.repeat(100))
  t.is((await listTokens(client)).pagination.total_items, 1)
})

test('a token expires at its date or never; a past or invalid date is refused', async (t) => {
  const client = await service.user('expirer')
  t.is((await issueToken(client, { name: 'ever', expires_at: null }))['expires_at'], null)
  t.is(
    (await issueToken(client, { name: 'long', expires_at: '2999-01-01T01:30:00.5+02:00' }))['expires_at'],
    '2998-12-31T23:30:00.500000+00:00',
  )
  const bad = [
    '2020-01-01T00:00:00Z',
    new Date().toISOString(),
    'tomorrow',
    '2999-01-01',
    '2999-01-01T00:00:00',
    '2999-02-30T00:00:00Z',
    '',
    4e9,
    true,
  ]
  for (const expires_at of bad) {
    const answer = await client.post<Issues>(TOKENS, { name: 'ci', expires_at })
    t.is(answer.status, 422, String(expires_at))
    t.deepEqual(answer.body.detail.map(({ loc }) => loc), [['body', 'expires_at']])
  }
  t.is((await listTokens(client)).pagination.total_items, 2)
})

test('a revoked token is refused in the next request and not listed, and its id is never reused', async (t) => {
  const client = await service.user('revoker')
  const [kept, revoked] = [await issueToken(client), await issueToken(client)]
  const answer = await revokeToken(client, revoked.id)
  t.is(answer.status, 200)
  t.deepEqual(Object.keys(answer.body), ['message'])
  t.is(typeof answer.body['message'], 'string')
  t.is((await withKey(url(), revoked.token, '/lives/')).status, 401)
  t.is((await withKey(url(), kept.token, '/lives/')).status, 200)
  t.deepEqual((await listTokens(client)).data.map(({ id }) => id), [kept.id])
  for (const refusal of [
    await revokeToken(client, revoked.id),
    await client.put(`${TOKENS}${revoked.id}`, { is_active: true }),
  ])
    t.deepEqual([refusal.status, refusal.body], [404, NOT_FOUND])
  t.true((await issueToken(client)).id > revoked.id, 'ids are not reused')
})

test('another user’s tokens are not listed and are 404 by id', async (t) => {
  const [owner, other] = [await service.user('owner of tokens'), await service.user('owner of none')]
  const { id, token } = await issueToken(owner)
  const { token: _, ...own } = await issueToken(other)
  t.deepEqual((await listTokens(other)).data, [own])
  for (const path of [id, 0, -1, 2 ** 31 + 1, '9007199254740993', '9'.repeat(400)])
    for (const answer of [await revokeToken(other, path), await other.put(`${TOKENS}${path}`, { is_active: false })])
      t.deepEqual([answer.status, answer.body], [404, NOT_FOUND], String(path))
  for (const path of ['abc', '1.5', '0x1'])
    for (const answer of [await revokeToken(other, path), await other.put(`${TOKENS}${path}`, {})])
      t.is(answer.status, 422, path)
  for (const method of ['PUT', 'DELETE', 'GET', 'POST'] as const)
    t.is(
      (await service.anonymous().request(method, method === 'GET' || method === 'POST' ? TOKENS : `${TOKENS}${id}`))
        .status,
      401,
    )
  t.is((await withKey(url(), token, '/lives/')).status, 200)
})

test('a token change may contain a name, a state, both or nothing, but not null', async (t) => {
  const client = await service.user('changer')
  const { token: _, ...record } = await issueToken(client)
  const path = `${TOKENS}${record.id}`
  for (const emptyChange of [{}, { name: 'ci' }, { is_active: true, expires_at: FAR_FUTURE, token_prefix: 'x' }])
    t.deepEqual((await client.put(path, emptyChange)).body, { data: record })
  for (const bad of [{ name: null }, { name: '' }, { is_active: null }, { is_active: 'no' }, { is_active: 0 }]) {
    const answer = await client.put<Issues>(path, bad)
    t.is(answer.status, 422, JSON.stringify(bad))
    t.deepEqual(answer.body.detail.map(({ loc }) => loc), [['body', ...Object.keys(bad)]])
  }
  t.deepEqual((await client.put(path, { name: 'b', is_active: false })).body, {
    data: { ...record, name: 'b', is_active: false },
  })
})

test('tokens are listed in pages, newest first', async (t) => {
  const client = await service.user('pager')
  const ids = []
  for (let n = 0; n < 25; n++) ids.push((await issueToken(client, { name: `${n}` })).id)
  const seen = []
  for (const [page, skip] of [0, 10, 20].entries()) {
    const { body } = await client.get<Listing<TokenJson>>(`${TOKENS}?skip=${skip}&limit=10`)
    t.deepEqual(body.pagination, { total_items: 25, total_pages: 3, current_page: page + 1, per_page: 10 })
    seen.push(...body.data.map(({ id }) => id))
  }
  t.deepEqual(seen, ids.toReversed())
  const { body } = await client.get<Listing<TokenJson>>(`${TOKENS}?skip=25`)
  t.deepEqual(body, { data: [], pagination: { total_items: 25, total_pages: 1, current_page: 1, per_page: 100 } })
})
