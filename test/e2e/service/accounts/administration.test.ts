import assert from 'node:assert/strict'
import { once } from 'node:events'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { WebSocket } from 'ws'
import { createClient, type Client, type Json, type Listing, type Single } from '../../../support/service/client.ts'
import { runTestService } from '../../../support/service/service.ts'
import { openLogOf } from '../../../support/stores/stores.ts'
import { eventually } from '../../../support/tools/eventually.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

interface Row extends Json {
  readonly id: number
  readonly active: boolean
}

const idOf = async (client: Client): Promise<number> =>
  (await client.get<Single<{ readonly id: number }>>('/users/me')).body.data.id

const rowOf = async (client: Client, path: string, query: string): Promise<Row> => {
  const { body } = await client.get<Listing<Row>>(`${path}${query}`)
  const [row] = body.data
  if (row === undefined) throw new Error(`${path}${query} is empty`)
  return row
}

test.serial('an admin can list all sessions without secrets and finish any; owner routes stay 404', async (t) => {
  const admin = await service.admin()
  const [ada, bob] = [await service.user('ada'), await service.user('bob')]
  const [first, second, third] = [await ada.createLive(), await bob.createLive(), await ada.createLive()]
  const list = (query: string) => admin.get<Listing<Json>>(`/admin/lives${query}`)
  const all = await list('')
  t.is(all.status, 200)
  t.deepEqual(
    all.body.data.map((live) => [live['id'], live['username']]),
    [
      [third.id, 'ada'],
      [second.id, 'bob'],
      [first.id, 'ada'],
    ],
  )
  t.deepEqual(Object.keys(all.body.data[0] ?? {}), [
    'id',
    'user_id',
    'username',
    'status',
    'live_retention',
    'audio_format',
    'auto_start',
    'auto_start_pid',
    'vram',
    'lag',
    'config',
    'model',
    'language',
    'translations',
    'created_at',
    'updated_at',
  ])
  for (const secret of [first.sender_token, first.listener_token, second.sender_token])
    t.false(JSON.stringify(all.body).includes(secret))

  const finished = await admin.put<Single<Json>>(`/admin/lives/${second.id}/finish`)
  t.is(finished.status, 200)
  t.like(finished.body.data, { id: second.id, status: 'finished', vram: 0, username: 'bob' })
  t.deepEqual(
    await admin.put(`/admin/lives/${second.id}/finish`).then(({ body }) => body),
    finished.body,
    'a second finish changes nothing',
  )
  t.is((await bob.get<Single<Json>>(`/lives/${second.id}`)).body.data['status'], 'finished')

  const pages = await list('?status=pending&limit=1&skip=1')
  t.deepEqual(pages.body.pagination, { total_items: 2, total_pages: 2, current_page: 2, per_page: 1 })
  t.deepEqual(pages.body.data.map(({ id }) => id), [first.id])
  t.deepEqual((await list('?status=finished')).body.data.map(({ id }) => id), [second.id])
  const adaId = await idOf(ada)
  const ofAda = await list(`?user_id=${adaId}`)
  t.deepEqual([ofAda.body.data.map(({ id }) => id), ofAda.body.pagination.total_items], [[third.id, first.id], 2])
  t.deepEqual((await list('?user_id=4711')).body.data, [])
  for (const query of ['?status=odd', '?limit=0', '?user_id=0', '?user_id=ada'])
    t.is((await list(query)).status, 422, query)

  const sender = await ada.socket(third, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  t.deepEqual((await list('')).body.data.map(({ lag }) => lag), [0, null, null], 'only the running session has a lag')
  t.regex((await service.anonymous().get<string>('/metrics')).body, /^stenolog_live_lag_max_seconds 0$/m)
  sender.terminate()

  t.is((await admin.get(`/lives/${first.id}`)).status, 404)
  t.is((await admin.put(`/lives/${first.id}/finish`)).status, 404)
  for (const id of ['99999', '0', '-1']) t.is((await admin.put(`/admin/lives/${id}/finish`)).status, 404, id)
  t.is((await admin.put('/admin/lives/x/finish')).status, 422)
})

test.serial('admin routes answer 401 without credentials and 403 to other users before any check', async (t) => {
  const member = await service.user('plain')
  const routes = [
    ['GET', '/admin/lives?limit=0'],
    ['PUT', '/admin/lives/x/finish'],
    ['PUT', '/admin/models/x'],
    ['PUT', '/admin/languages/1'],
    ['PUT', '/admin/translations/1'],
    ['PUT', '/users/1'],
  ] as const
  for (const [method, path] of routes) {
    t.is((await service.anonymous().request(method, path)).status, 401, path)
    t.is((await member.request(method, path)).status, 403, path)
  }
})

test.serial('a model, language or pair that an admin disables is listed inactive and refused as unknown', async (t) => {
  const admin = await service.admin()
  const member = await service.user('chooser')
  const create = async (members: Json) => {
    const { status, body } = await member.post('/lives', { model: 'demo-en', language: 'en', ...members })
    return status === 200 ? 200 : [status, body['detail']]
  }
  const cases = [
    ['/models', '?name=demo-en', {}, 'Model not found'],
    ['/languages', '?iso_639_1=en', {}, 'Language not found'],
    ['/translations', '?lang_from=en&lang_to=es', { translations: ['es'] }, 'Translation not found: en->es'],
  ] as const
  for (const [path, query, members, detail] of cases) {
    const { id } = await rowOf(admin, path, query)
    t.is(await create(members), 200)
    const disabled = await admin.put<Single<Row>>(`/admin${path}/${id}`, { is_active: false })
    t.is(disabled.status, 200)
    t.false(disabled.body.data.active)
    t.is(typeof disabled.body.data['updated_at'], 'string', 'a change sets updated_at')
    t.like(await rowOf(admin, path, query), disabled.body.data)
    t.deepEqual(await create(members), [404, detail])
    t.true((await admin.put<Single<Row>>(`/admin${path}/${id}`, { is_active: true })).body.data.active)
    t.is(await create(members), 200)
    t.is((await admin.put(`/admin${path}/99999`, { is_active: true })).status, 404)
    for (const body of [{}, { is_active: 1 }, { is_active: null }])
      t.is((await admin.put(`/admin${path}/${id}`, body)).status, 422)
  }
  const tiny = await rowOf(admin, '/models', '?name=tiny')
  t.false(
    (await admin.put<Single<Row>>(`/admin/models/${tiny.id}`, { is_active: true })).body.data.active,
    'a missing model stays inactive',
  )
})

test.serial(
  'actions of an admin are events with the admin as actor, and a disabled language stays disabled after a restart',
  async (t) => {
    const admin = await service.admin()
    const { id } = await rowOf(admin, '/languages', '?iso_639_1=fr')
    await admin.put(`/admin/languages/${id}`, { is_active: false })
    const live = await (await service.user('watched')).createLive()
    await admin.get('/admin/lives?limit=1')
    await admin.put(`/admin/lives/${live.id}/finish`)
    const actor = `user:${await idOf(admin)}`

    const ids = ['0198f0a4-7c1e-7b3d-9a52-3f6f2d1c0b9e', '0198f0a4-7c1e-7b3d-9a52-3f6f2d1c0b9f']
    const requestId = (index: number) => ({ 'x-request-id': ids[index] ?? '' })
    const creation = {
      headers: { ...requestId(0), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-en', language: 'en' }),
    }
    const created = await admin.request<Single<Record<'id' | 'sender_token', string>>>('POST', '/lives', creation)
    const { data } = created.body
    const socketUrl = `${service.url().replace('http', 'ws')}/ws/live/${data.id}?token=${data.sender_token}`
    const sender = new WebSocket(socketUrl, { headers: requestId(1) })
    t.teardown(() => sender.terminate())
    await once(sender, 'open')
    sender.send(JSON.stringify({ type: 'config' }))
    sender.send(new Int16Array(1600))
    await eventually(async () => assert.equal((await rowOf(admin, '/lives', '?limit=1'))['status'], 'active'))
    await service.kill('SIGKILL')

    const store = await openLogOf(service)
    const lastTypeAndActor = async (stream: string): Promise<ReadonlyArray<unknown>> => {
      const events = await store.read(stream)
      const event = E.isRight(events) ? events.right.at(-1) : undefined
      return [event?.type, event?.metadata.actor]
    }
    t.deepEqual(await lastTypeAndActor('catalogue'), ['LanguageSwitched', actor])
    t.deepEqual(await lastTypeAndActor('administration'), ['LivesListed', actor])
    t.deepEqual(await lastTypeAndActor(`live-${live.id}`), ['LiveFinished', actor])
    const events = [await store.read(`live-${data.id}`), await store.read('admission')].flatMap((read) =>
      E.isRight(read) ? read.right : [],
    )
    const typesCausedBy = (id: string | undefined): ReadonlyArray<string> =>
      events.filter(({ metadata }) => metadata.correlationId === id).map(({ type }) => type).toSorted()
    t.deepEqual(typesCausedBy(ids[0]), ['Admitted', 'LiveCreated'], 'events carry the id of their request')
    t.true(typesCausedBy(ids[1]).includes('SenderAttached'))
    await store.close()
    await service.start()
    t.false((await rowOf(service.anonymous(), '/languages', '?iso_639_1=fr')).active)
  },
)

const issue = async (client: Client, name: string) => (await client.api.call('createToken', { body: { name } })).data

test.serial('an administrator can list the API tokens of all users without secrets and revoke any', async (t) => {
  const admin = await service.admin()
  const [carla, dan] = [await service.user('carla'), await service.user('dan')]
  const [first, second, third] = [await issue(carla, 'one'), await issue(dan, 'two'), await issue(carla, 'three')]
  const list = async (query = ''): Promise<Listing<Json>> =>
    (await admin.get<Listing<Json>>(`/admin/tokens${query}`)).body
  const all = await list()
  t.deepEqual(
    all.data.map(({ id, username, name }) => [id, username, name]),
    [
      [third.id, 'carla', 'three'],
      [second.id, 'dan', 'two'],
      [first.id, 'carla', 'one'],
    ],
  )
  t.deepEqual(Object.keys(all.data[0] ?? {}), [
    'id',
    'name',
    'token_prefix',
    'is_active',
    'expires_at',
    'last_used_at',
    'created_at',
    'user_id',
    'username',
  ])
  t.false(JSON.stringify(all).includes(third.token))
  t.deepEqual((await list('?limit=1&skip=2')).pagination, {
    total_items: 3,
    total_pages: 3,
    current_page: 3,
    per_page: 1,
  })
  const { data: me } = await carla.api.call('getMe')
  const ofCarla = await list(`?user_id=${me.id}`)
  t.deepEqual([ofCarla.data.map(({ id }) => id), ofCarla.pagination.total_items], [[third.id, first.id], 2])
  t.deepEqual((await list('?user_id=4711')).data, [])
  t.is((await admin.get('/admin/tokens?user_id=carla')).status, 422)

  const withKey = createClient(service.url(), third.token)
  t.is((await withKey.get('/users/me')).status, 200)
  const revoked = await admin.request('DELETE', `/admin/tokens/${third.id}`)
  t.deepEqual([revoked.status, revoked.body], [200, { message: 'Token revoked' }])
  t.is((await withKey.get('/users/me')).status, 401)
  t.deepEqual((await list()).data.map(({ id }) => id), [second.id, first.id])
  t.is((await list()).pagination.total_items, 2)
  for (const id of [third.id, 4711, 0])
    t.is((await admin.request('DELETE', `/admin/tokens/${id}`)).status, 404, String(id))
  for (const client of [dan, createClient(service.url(), first.token)]) {
    t.is((await client.get('/admin/tokens')).status, 403)
    t.is((await client.request('DELETE', `/admin/tokens/${first.id}`)).status, 403)
  }
})
