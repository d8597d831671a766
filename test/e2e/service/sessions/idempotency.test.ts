import test from 'ava'
import {
  logIn, type Answer, type Client, type Json, type Listing, type LiveJson, type Single,
} from '../../../support/service/client.ts'
import { passwordOf } from '../../../support/service/service.ts'
import { restartedTestService } from '../../../support/service/shared-service.ts'

const service = restartedTestService()

const MINIMAL = { model: 'demo-en', language: 'en' }

const create = (client: Client, key: string, body: Json = MINIMAL): Promise<Answer<Single<LiveJson>>> =>
  client.request('POST', '/lives', {
    headers: { 'content-type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify(body),
  })
const total = async (client: Client): Promise<number> =>
  (await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items

test.serial('a repeated key and body return the same session, also after its end and after kill -9', async (t) => {
  const client = await service.user('repeater')
  const first = await create(client, 'order 66')
  t.is(first.status, 200)
  t.deepEqual(
    (await create(client, 'order 66', { language: 'en', model: 'demo-en', audio_format: 'raw' })).body,
    first.body,
    'member order and explicit defaults do not matter',
  )
  await client.put(`/lives/${first.body.data.id}/finish`)
  t.deepEqual((await create(client, 'order 66')).body, first.body)
  t.not((await create(client, 'order 67')).body.data.id, first.body.data.id)
  t.is(await total(client), 2)
  await service.kill()
  await service.start()
  const relogged = await logIn(service.url(), 'repeater', passwordOf('repeater'))
  // The restarted service has another port.
  const data = { ...first.body.data, base_url: service.url().replace('http', 'ws') }
  t.deepEqual((await create(relogged, 'order 66')).body, { data })
  t.is(await total(relogged), 2)
})

test.serial('a reused key with another body is 422, and each user has their own keys', async (t) => {
  const [client, other] = [await service.user('mixer'), await service.user('neighbour')]
  const { id } = (await create(client, 'k')).body.data
  const refused = await create(client, 'k', { ...MINIMAL, live_retention: true })
  t.is(refused.status, 422)
  t.deepEqual(refused.body as unknown, {
    detail: [
      {
        type: 'value_error',
        loc: ['header', 'idempotency-key'],
        msg: 'Value error, key was used with another request',
      },
    ],
  })
  t.not((await create(other, 'k')).body.data.id, id)
  for (const key of ['x'.repeat(256), 'caf\u00e9']) {
    const answer = await create(client, key)
    t.is(answer.status, 422)
    t.deepEqual((answer.body as unknown as { detail: ReadonlyArray<Json> }).detail[0]?.['loc'], [
      'header',
      'idempotency-key',
    ])
  }
  t.is((await create(client, 'k', { language: 'en' })).status, 422, 'an invalid body is reported before the reused key')
  t.is(await total(client), 1)
})

test.serial(
  'twenty requests at once with one key create one session; requests during the create are 409',
  async (t) => {
    const client = await service.user('hasty')
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(client, 'at once')))
    const [created = answers[0]] = answers.filter(({ status }) => status === 200)
    for (const { status, body } of answers) {
      if (status === 200) t.deepEqual(body, created?.body)
      else
        t.deepEqual(
          [status, body as unknown],
          [409, { detail: 'A request with this Idempotency-Key is still running' }],
        )
    }
    t.is(created?.status, 200)
    t.is(await total(client), 1)
  },
)

test.serial('a key does not restore its deleted session, and a refused create can be retried', async (t) => {
  const client = await service.user('undoer', { max_sessions: 1 })
  const { id } = (await create(client, 'first')).body.data
  t.is((await create(client, 'second')).status, 403)
  t.is((await client.request('DELETE', `/lives/${id}`)).status, 200)
  t.like(await create(client, 'first'), {
    status: 404,
    body: { detail: 'Live not found' } as unknown as Single<LiveJson>,
  })
  t.is((await create(client, 'second')).status, 200)
  t.is(await total(client), 1)
})
