import test from 'ava'
import type { Json } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const issuesOf = ({ detail }: Json): ReadonlyArray<unknown> =>
  (detail as ReadonlyArray<Json>).map(({ type, loc }) => [type, loc])

const MALFORMED_BODIES = [
  '', '{', 'nul', '[]', '[{}]', '"text"', '7', 'null', '{"a":1}}', '{"model":}', '\u0000',
  `${'['.repeat(40)}${']'.repeat(40)}`, '['.repeat(60_000),
  `{"model":"demo-en","language":"en","x":${'['.repeat(40)}${']'.repeat(40)}}`,
]

test('a body that is not a JSON object of limited depth is 422', async (t) => {
  const { token } = await service.user('hostile')
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = (body: string, more: Readonly<Record<string, string>> = {}) =>
    service.anonymous().request('POST', '/lives', { headers: { ...headers, ...more }, body })

  for (const body of MALFORMED_BODIES) {
    const answer = await create(body)
    t.is(answer.status, 422, body.slice(0, 40))
    for (const item of answer.body['detail'] as ReadonlyArray<Json>)
      t.deepEqual(Object.keys(item).toSorted(), ['loc', 'msg', 'type'])
  }
  const minimal = JSON.stringify({ model: 'demo-en', language: 'en' })
  for (const encoding of ['gzip', 'br', 'deflate'])
    t.is((await create(minimal, { 'content-encoding': encoding })).status, 422, encoding)
  const empty = await service.anonymous().request('POST', '/lives', { headers: { authorization: `Bearer ${token}` } })
  t.deepEqual(issuesOf(empty.body), [['missing', ['body', 'model']], ['missing', ['body', 'language']]])
})

test('a body that is too large is 413', async (t) => {
  const client = await service.user('bulky bodies')
  const create = (size: number) => client.post('/lives', { model: 'demo-en', language: 'en', x: 'a'.repeat(size) })

  t.is((await create(65_000)).status, 200)
  for (const large of [
    await create(65_536),
    await service.anonymous().form('/login', { username: 'x'.repeat(9000), password: 'x' }),
  ])
    t.deepEqual([large.status, large.body], [413, { detail: 'Request body too large' }])
})

test('a refusal does not repeat the submitted values', async (t) => {
  const client = await service.user('secretive')
  const secret = 'hunter2-hunter2'
  for (const body of [
    { model: [secret] },
    { model: secret, language: { [secret]: secret } },
    { listener_token: `${secret} !` },
  ]) {
    const answer = await client.post('/lives', body)
    t.is(answer.status, 422)
    t.false(JSON.stringify(answer.body).includes(secret))
  }
})
