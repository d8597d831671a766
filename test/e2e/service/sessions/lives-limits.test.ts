import test from 'ava'
import type { Client, Json, Listing, LiveJson, Single } from '../../../support/service/client.ts'
import { startTestService } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const MINIMAL = { model: 'demo-en', language: 'en' }

const total = async (client: Client): Promise<number> =>
  (await client.get<Listing<LiveJson>>('/lives/')).body.pagination.total_items

test('a user over the session quota gets 403, after the checks of the token and the model', async (t) => {
  const client = await service.user('limited', { max_sessions: 2 })
  const rival = await service.user('rival')
  await rival.createLive({ listener_token: 'rivals-own-token' })
  const [first] = [await client.createLive(), await client.createLive()]
  const answer = async (request: Json): Promise<unknown> => {
    const { status, body } = await client.post('/lives', request)
    const { detail } = body
    return [status, Array.isArray(detail) ? detail.map((item: Json) => item['loc']) : detail]
  }
  const taken = { listener_token: 'rivals-own-token' }
  t.deepEqual(await answer(MINIMAL), [403, 'Maximum number of sessions reached (2)'])
  t.deepEqual(await answer({ ...MINIMAL, ...taken, model: 'unknown' }), [422, [['body', 'listener_token']]])
  t.deepEqual(await answer({ ...MINIMAL, model: 'unknown' }), [404, 'Model not found'])
  t.is((await client.put(`/lives/${first?.id}/finish`)).status, 200)
  t.deepEqual(
    await answer({ ...MINIMAL, ...taken }),
    [422, [['body', 'listener_token']]],
    'a refused token uses no quota',
  )
  t.is((await client.post('/lives', MINIMAL)).status, 200)
  t.is((await client.post('/lives', MINIMAL)).status, 403)
})

test('a custom token permanently belongs to the user who used it first', async (t) => {
  const [owner, other] = [await service.user('token-owner'), await service.user('token-other')]
  const listener_token = 'My.public_stream~1-a'
  const live = await owner.createLive({ listener_token })
  t.is(live.listener_token, listener_token)
  t.is((await owner.createLive({ custom_listener_token: listener_token })).listener_token, listener_token)
  const steal = (): ReturnType<typeof other.post> => other.post('/lives', { ...MINIMAL, listener_token })
  const refusal = {
    detail: [
      { type: 'value_error', loc: ['body', 'listener_token'], msg: 'Value error, token is used by another user' },
    ],
  }
  t.like(await steal(), { status: 422, body: refusal })
  for (const { id } of (await owner.get<Listing<LiveJson>>('/lives/')).body.data) await owner.put(`/lives/${id}/finish`)
  t.like(await steal(), { status: 422, body: refusal }, 'the token stays reserved after the end')
  for (const client of [owner, other])
    t.is(
      (await client.post('/lives', { ...MINIMAL, listener_token: live.sender_token })).status,
      422,
      'a sender token cannot be used as a custom listener token',
    )
  const random = await owner.createLive()
  t.is(
    (await other.post('/lives', { ...MINIMAL, listener_token: random.listener_token })).status,
    422,
    'generated tokens are reserved too',
  )
  t.is(await total(other), 0)
})

test('a create that lacks one megabyte stores nothing, and finishing a session frees its memory at once', async (t) => {
  const vram = (await (await service.user('prober')).createLive()).vram
  const small = await startTestService(t, { VRAM_MB: String(2 * vram - 1) })
  const [client, other] = [await small.user('first'), await small.user('second')]
  const live = await client.createLive()
  const refused = await client.post('/lives', { ...MINIMAL, listener_token: 'wanted-token' })
  t.is(refused.status, 503)
  t.deepEqual(refused.body, { detail: `Not enough VRAM: ${vram} MB required, ${vram - 1} MB available` })
  t.is(refused.headers.get('retry-after'), '30')
  t.is(await total(client), 1)
  t.regex((await client.get<string>('/metrics')).body, new RegExp(`^stenolog_vram_reserved_megabytes ${vram}$`, 'm'))
  await client.put(`/lives/${live.id}/finish`)
  const created = await other.post<Single<LiveJson>>('/lives', { ...MINIMAL, listener_token: 'wanted-token' })
  t.is(created.status, 200, 'the memory is free, and the refused create did not reserve the token')
  t.true(created.body.data.id > live.id)
})

test('a session without enough compute is refused after every other check; OVERCOMMIT=0 admits it', async (t) => {
  const [limiting, unlimited] = [
    await startTestService(t, { OVERCOMMIT: '0.000001' }),
    await startTestService(t, { OVERCOMMIT: '0' }),
  ]
  const client = await limiting.user('late')
  const refused = await client.post('/lives', MINIMAL)
  t.is(refused.status, 503)
  t.regex(
    String(refused.body['detail']),
    /^Not enough compute: 0\.\d\d engine lanes required, 0\.00 available; try again when /,
  )
  t.is(refused.headers.get('retry-after'), '30')
  t.is(await total(client), 0)
  const limited = await limiting.user('none', { max_sessions: 0 })
  t.is((await limited.post('/lives', MINIMAL)).status, 403)
  t.is((await (await unlimited.user('early')).post('/lives', MINIMAL)).status, 200)
  t.regex((await client.get<string>('/metrics')).body, /^stenolog_engine_lanes [1-9]\d*$/m)
})
