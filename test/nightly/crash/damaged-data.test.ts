import test from 'ava'
import { createClient, type Client, type Single } from '../../support/service/client.ts'
import {
  appendEvent, disposeServices, flipByte, assertUsable, reportedDamage, stoppedService,
} from '../../support/service/damaged-data.ts'
import { ADMIN, passwordOf, startTestService } from '../../support/service/service.ts'
import { testOnChosenStores } from '../../support/running/skip-unless.ts'

test.after.always(disposeServices)

test('an admission event of a newer version blocks new sessions only', async (t) => {
  const { service, live } = await stoppedService(t)
  await appendEvent(service, 'admission', 'InventedLater', {})
  await service.start()
  const ada = await service.logIn('ada')
  const create = await ada.post('/lives', { model: 'demo-en', language: 'en' })
  t.deepEqual([create.status, /cannot be read/.test(String(create.body['detail']))], [503, true])
  t.is((await ada.get(`/lives/${live.id}`)).status, 200)
  t.is((await ada.post('/tokens', { name: 'second' })).status, 200)
  t.deepEqual(await reportedDamage(service), { status: 200, streams: ['admission: unknown-event'], missing: [] })
})

testOnChosenStores(
  'a damaged event that may disable a user or an API token locks out only that user or token',
  async (t) => {
    const service = await startTestService(t)
    const at = '2026-11-21T09:30:00.123456+00:00'
    const [ada, bob] = [await service.user('ada'), await service.user('bob')]
    const issue = async (client: Client): Promise<{ readonly id: number; readonly secret: string }> => {
      const { body } = await client.post<Single<{ readonly id: number; readonly token: string }>>('/tokens', {
        name: 'ci',
      })
      return { id: body.data.id, secret: body.data.token }
    }
    const [adaToken, damagedToken, bobToken] = [await issue(ada), await issue(bob), await issue(bob)]
    await service.kill('SIGTERM')
    await appendEvent(service, 'user-2', 'UserDisabled', { userId: 2, at })
    await appendEvent(service, `api-token-${damagedToken.id}`, 'ApiTokenDeactivated', {
      tokenId: damagedToken.id,
      userId: 3,
      at,
    })
    flipByte(service, 'user-2', 1)
    flipByte(service, `api-token-${damagedToken.id}`, 1)
    await service.start()
    t.is((await service.anonymous().form('/login', { username: 'ada', password: passwordOf('ada') })).status, 401)
    const withKey = async ({ secret }: { readonly secret: string }): Promise<number> =>
      (await service.anonymous().request('GET', '/users/me', { headers: { 'x-api-key': secret } })).status
    t.deepEqual([await withKey(adaToken), await withKey(damagedToken), await withKey(bobToken)], [401, 401, 200])
    t.is(
      (await createClient(service.url(), ada.token).get('/users/me')).status,
      401,
      'an earlier login of this user is refused too',
    )
    await assertUsable(t, await service.logIn('bob'))
  },
)

testOnChosenStores(
  'a damaged registration blocks one user, and the service does not start its setup again',
  async (t) => {
    const { service } = await stoppedService(t)
    for (const stream of ['user-1', 'user-2']) flipByte(service, stream, 0)
    await service.start()
    await assertUsable(t, await service.logIn('bob'))
    for (const [username, password] of [['ada', passwordOf('ada')], [ADMIN.username, ADMIN.password]] as const)
      t.is((await service.anonymous().form('/login', { username, password })).status, 401)
    t.deepEqual((await reportedDamage(service)).streams, ['user-1: damaged', 'user-2: damaged'])
    flipByte({ ...service }, 'user-3', 0)
    await service.kill()
    await service.start()
    t.notRegex(service.log(), /setup#token/)
    t.is((await reportedDamage(service)).status, 200)
  },
)

testOnChosenStores('a damaged admission row blocks new sessions only', async (t) => {
  const { service, live } = await stoppedService(t)
  flipByte(service, 'admission', 1)
  await service.start()
  const ada = await service.logIn('ada')
  t.is((await ada.post('/lives', { model: 'demo-en', language: 'en' })).status, 503)
  t.is((await ada.get(`/lives/${live.id}`)).status, 200)
  t.is((await ada.post('/tokens', { name: 'second' })).status, 200)
  t.deepEqual(await reportedDamage(service), { status: 200, streams: ['admission: damaged'], missing: [] })
})

test('an event that matches no definition counts as damaged', async (t) => {
  const { service } = await stoppedService(t)
  await appendEvent(service, 'user-3', 'UserDisabled', { userId: 'three' })
  await appendEvent(service, 'user-2', 'UserEnabled', {})
  await service.start()
  const admin = await service.admin()
  await assertUsable(t, admin)
  t.is((await admin.put('/users/3', { is_active: false })).status, 503)
  t.deepEqual(await reportedDamage(service), {
    status: 200,
    streams: ['user-2: damaged', 'user-3: damaged'],
    missing: [],
  })
})
