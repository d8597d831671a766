import assert from 'node:assert/strict'
import test from 'ava'
import {
  TOKENS, issueToken, listTokens, revokeToken, withKey, type TokenJson,
} from '../../../support/service/api-tokens.ts'
import { createClient, type Json, type Listing, type Single } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { startTestService } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/
const NOT_VALID = { detail: 'Could not validate credentials' }
const NO_KEYS = { detail: 'API keys are not accepted here' }

const service = sharedTestService()
const url = (): string => service.url()

test('an API key gives its user’s access to the private routes', async (t) => {
  const client = await service.user('caller')
  const { token } = await issueToken(client)
  const live = await withKey<Single<{ readonly id: number }>>(url(), token, '/lives', 'POST', {
    model: 'demo-en',
    language: 'en',
  })
  t.is(live.status, 200)
  t.deepEqual((await client.get<Listing<Json>>('/lives/')).body.data.map(({ id }) => id), [live.body.data.id])
  t.is((await withKey(url(), token, `/lives/${live.body.data.id}/finish`, 'PUT')).status, 200)
  t.is((await withKey(url(), token, '/lives/finish-by-audio_url', 'PUT', { audio_url: 'http://host/a' })).status, 200)
  const [profile] = (await withKey<Listing<{ readonly id: number }>>(url(), token, '/user-live-configs/')).body.data
  t.deepEqual((await client.get<Listing<{ readonly id: number }>>('/user-live-configs/')).body.data[0]?.id, profile?.id)
  t.is((await withKey(url(), token, '/user-live-configs/', 'POST', { name: 'by key' })).status, 200)
  t.is((await withKey(url(), token, `/user-live-configs/${profile?.id}`, 'PUT', { max_chars: 40 })).status, 200)
  t.is((await withKey(url(), token, `/user-live-configs/${profile?.id}`, 'DELETE')).status, 200)
  t.is((await withKey<Listing<TokenJson>>(url(), token, TOKENS)).body.data.length, 1)
})

test('Authorization takes precedence over X-API-Key, and accepts an API token as Bearer', async (t) => {
  const client = await service.user('bearer')
  const { token } = await issueToken(client)
  const statusWith = async (headers: Record<string, string>) =>
    (await service.anonymous().request('GET', '/lives/', { headers })).status
  t.is(await statusWith({ authorization: `Bearer ${token}` }), 200)
  t.is(await statusWith({ authorization: `bearer ${token}`, 'x-api-key': 'bad' }), 200)
  t.is(await statusWith({ authorization: 'Bearer bad', 'x-api-key': token }), 401)
  t.is(await statusWith({ authorization: `Basic ${token}`, 'x-api-key': token }), 401)
  t.is(await statusWith({ authorization: '', 'x-api-key': token }), 401)
  t.is(await statusWith({ 'x-api-key': client.token ?? '' }), 401, 'a JWT is not an API key')
})

test('a token that differs from an issued one in any character is refused', async (t) => {
  const client = await service.user('guesser')
  const { token } = await issueToken(client)
  const altered = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  for (const bad of [
    '',
    'lt_',
    'lt_x',
    token.slice(0, 15),
    token.slice(0, -1),
    `${token}A`,
    altered,
    token.toUpperCase(),
    `${token}, ${token}`,
  ]) {
    const answer = await withKey(url(), bad, '/lives/')
    t.is(answer.status, 401, bad)
    t.deepEqual(answer.body, NOT_VALID)
    t.is(answer.headers.get('www-authenticate'), 'Bearer')
  }
  t.is((await withKey(url(), token, '/lives/')).status, 200)
})

test('a disabled token is refused in the next request and works again when enabled', async (t) => {
  const client = await service.user('switcher')
  const { id, token } = await issueToken(client)
  for (let round = 0; round < 10; round++) {
    const disabled = await client.put<Single<TokenJson>>(`${TOKENS}${id}`, { is_active: false })
    t.deepEqual([disabled.status, disabled.body.data.is_active], [200, false])
    const refused = await withKey(url(), token, '/lives/')
    t.deepEqual([refused.status, refused.body], [401, NOT_VALID])
    t.is((await createClient(service.url(), token).get('/lives/')).status, 401)
    t.is((await listTokens(client)).data[0]?.is_active, false)
    const enabled = await client.put<Single<TokenJson>>(`${TOKENS}${id}`, { is_active: true })
    t.deepEqual([enabled.status, enabled.body.data.is_active], [200, true])
    t.is((await withKey(url(), token, '/lives/')).status, 200)
  }
})

test('a token is refused after its expiry date', async (t) => {
  const client = await service.user('short')
  const expiry = Date.now() + 12_000
  const expiresAt = new Date(expiry).toISOString()
  const { token } = await issueToken(client, { name: 'short', expires_at: expiresAt })
  await eventually(async () => {
    const sentAt = Date.now()
    const { status } = await withKey(url(), token, '/lives/')
    // The clocks of two processes differ by milliseconds, so near the expiry either answer is right.
    if (Date.now() < expiry - 50) t.is(status, 200)
    if (sentAt > expiry + 50) t.is(status, 401)
    assert.ok(sentAt > expiry + 50)
  }, { timeoutMs: 120_000 })
})

test('an API key may list and revoke tokens, but not create or change them', async (t) => {
  const client = await service.user('leaked')
  const { id, token } = await issueToken(client)
  for (const headers of [{ 'x-api-key': token }, { authorization: `Bearer ${token}` }])
    for (const [method, path] of [
      ['POST', TOKENS],
      ['PUT', `${TOKENS}${id}`],
    ] as const)
      for (const body of ['{"name":"mine"}', '{', '{}']) {
        const answer = await service
          .anonymous()
          .request(method, path, { headers: { ...headers, 'content-type': 'application/json' }, body })
        t.deepEqual([answer.status, answer.body], [403, NO_KEYS], `${method} ${body}`)
      }
  t.is((await withKey(url(), token, '/users/')).status, 403)
  t.deepEqual((await listTokens(client)).data.map((item) => [item.id, item.name]), [[id, 'ci']])
  t.is((await withKey(url(), token, `${TOKENS}${id}`, 'DELETE')).status, 200)
  t.is((await withKey(url(), token, TOKENS)).status, 401)
})

test('an admin’s API key opens no admin route', async (t) => {
  const { token } = await issueToken(await service.admin())
  t.deepEqual((await withKey(url(), token, '/users/')).body, NO_KEYS)
  t.is((await withKey(url(), token, '/lives/')).status, 200)
})

test('last_used_at of a token is null until its first use', async (t) => {
  const client = await service.user('user')
  const [used, unused] = [await issueToken(client), await issueToken(client)]
  const before = new Date().toISOString()
  for (let n = 0; n < 5; n++) t.is((await withKey(url(), used.token, '/lives/')).status, 200)
  const lastUses = async () => new Map((await listTokens(client)).data.map((item) => [item.id, item.last_used_at]))
  await eventually(async () => { assert.notEqual((await lastUses()).get(used.id), null) })
  const lastUse = (await lastUses()).get(used.id) ?? ''
  t.regex(lastUse, DATE)
  t.true(lastUse.slice(0, 23) >= before.slice(0, 23))
  t.is((await lastUses()).get(unused.id), null)
})

test('tokens and profiles survive a kill, and disabled and revoked tokens stay refused', async (t) => {
  const own = await startTestService(t)
  const client = await own.user('survivor')
  const [good, disabled, revoked] = [await issueToken(client), await issueToken(client), await issueToken(client)]
  t.is((await client.put(`${TOKENS}${disabled.id}`, { is_active: false })).status, 200)
  t.is((await revokeToken(client, revoked.id)).status, 200)
  t.is((await client.post('/user-live-configs/', { name: 'Talk' })).status, 200)
  await own.kill()
  await own.start()
  const statusOf = async (token: string) => (await createClient(own.url(), token).get('/lives/')).status
  const statuses = [await statusOf(good.token), await statusOf(disabled.token), await statusOf(revoked.token)]
  t.deepEqual(statuses, [200, 401, 401])
  const restarted = createClient(own.url(), client.token)
  t.deepEqual((await listTokens(restarted)).data.map(({ id }) => id), [disabled.id, good.id])
  const { data } = (await restarted.get<Listing<{ readonly name: string }>>('/user-live-configs/')).body
  t.deepEqual(data.map(({ name }) => name), ['Default', 'Talk'])
})
