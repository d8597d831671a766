import test from 'ava'
import type { Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

test(
  'query operators of a database are refused in bodies and paths, and have no effect in queries and forms',
  async (t) => {
    const eve = await service.user('operator')
    const operators: ReadonlyArray<unknown> = [{ $ne: 1 }, { $gt: '' }, { $regex: '.*' }, ['$ne'], { toString: 1 }]
    for (const operator of operators) {
      t.is((await eve.put('/lives/finish-by-audio_url', { audio_url: operator })).status, 422)
      t.is((await eve.post('/lives', { model: operator, language: 'en' })).status, 422)
      t.is((await eve.post('/lives', { model: 'demo-en', language: 'en', listener_token: operator })).status, 422)
      t.is((await eve.post('/tokens/', { name: operator })).status, 422)
      t.is((await eve.put(`/user-live-configs/1`, { name: operator })).status, 422)
      t.is(
        (
          await service.anonymous().request('POST', '/setup', {
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ token: operator, username: 'x', password: 'long enough' }),
          })
        ).status,
        422,
      )
    }
    for (const form of [
      'username[$ne]=x&password[$ne]=x',
      'username[]=ann&password[]=x',
      'username.x=ann&password.x=x',
    ])
      t.is(
        (
          await service.anonymous().request('POST', '/login', {
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            body: form,
          })
        ).status,
        422,
        form,
      )
    for (const path of ['{"$gt":0}', '1 OR 1=1', "1'--", '1;DROP TABLE lives', '$where', '*', '1e1', '0x1'])
      t.is((await eve.get(`/lives/${encodeURIComponent(path)}`)).status, 422, path)
    const total = async (path: string): Promise<number> =>
      (await service.anonymous().get<Listing<unknown>>(path)).body.pagination.total_items
    for (const value of ["' OR '1'='1", '{"$ne":null}', '%', '*', '.*', '_n'])
      t.is(await total(`/languages/?iso_639_1=${encodeURIComponent(value)}`), 0, value)
    t.is(await total('/languages/?name[$gt]=&iso_639_1[$ne]=en'), 98, 'unknown parameters are ignored')
  },
)

test('a body with __proto__ or constructor members cannot change a prototype', async (t) => {
  const eve = await service.user('prototype')
  for (const name of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString', 'valueOf']) {
    const text =
      `{"${name}":{"model":"x","is_admin":true,"max_sessions":99},"model":"demo-en","language":"en",` +
      `"config":{"${name}":{"vad":false}}}`
    const answer = await eve.request<Single<LiveJson>>('POST', '/lives', {
      headers: { 'content-type': 'application/json' },
      body: text,
    })
    t.is(answer.status, 200, name)
    t.is((answer.body.data['config'] as unknown as Json)['vad'], true, name)
    t.is((await eve.put(`/lives/${answer.body.data.id}/finish`)).status, 200)
  }
  t.is(
    (
      await eve.request('POST', '/lives', {
        headers: { 'content-type': 'application/json' },
        body: '{"__proto__":{"model":"demo-en","language":"en"}}',
      })
    ).status,
    422,
  )
  t.is((await service.anonymous().get('/languages/?__proto__=x&constructor=y&name=French')).status, 200)
})

test('excessive numbers, lists and nesting are 422, and the service stays up', async (t) => {
  const eve = await service.user('excess')
  const post = (text: string) =>
    eve.request<{ readonly detail: ReadonlyArray<unknown> }>('POST', '/lives', {
      headers: { 'content-type': 'application/json' },
      body: text,
    })
  for (const value of ['1e999', '-1e999', '1e308', 'NaN', '9'.repeat(400), '"1"', '[1]'])
    t.is(
      (await post(`{"model":"demo-en","language":"en","config":{"max_chars":${value}}}`)).status,
      422,
      value.slice(0, 10),
    )
  const many = await post(
    `{"model":"demo-en","language":"en","translations":[${Array.from({ length: 30_000 }, () => '5').join(',')}]}`,
  )
  t.is(many.status, 422)
  t.is(many.body.detail.length, 1, 'a list that is too long makes one error')
  t.is((await post(`{"model":"demo-en","language":"en","x":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)).status, 422)
  t.is((await post('{"a":'.repeat(10_000))).status, 422)
  t.is((await service.anonymous().get('/health/live')).status, 200)
})
