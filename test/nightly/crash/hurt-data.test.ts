import test from 'ava'
import { createClient } from '../../support/service/client.ts'
import type { Client, Single } from '../../support/service/client.ts'
import {
  appendEvent, disposeServices, flipByte, assertUsable, reportedDamage, stoppedService,
} from '../../support/service/damaged-data.ts'
import { ADMIN, passwordOf, startTestService } from '../../support/service/service.ts'
import { testOnChosenStores } from '../../support/running/skip-unless.ts'

test.after.always(disposeServices)

test('with an event of a newer version among the admissions no live is created, and all else goes on', async (t) => {
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
  'who or whose API token may have been switched off by what is damaged is let in nowhere, and everybody else is',
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
    const [hers, off, his] = [await issue(ada), await issue(bob), await issue(bob)]
    await service.kill('SIGTERM')
    await appendEvent(service, 'user-2', 'UserDisabled', { userId: 2, at })
    await appendEvent(service, `api-token-${off.id}`, 'ApiTokenDeactivated', { tokenId: off.id, userId: 3, at })
    flipByte(service, 'user-2', 1)
    flipByte(service, `api-token-${off.id}`, 1)
    await service.start()
    t.is((await service.anonymous().form('/login', { username: 'ada', password: passwordOf('ada') })).status, 401)
    const withKey = async ({ secret }: { readonly secret: string }): Promise<number> =>
      (await service.anonymous().request('GET', '/users/me', { headers: { 'x-api-key': secret } })).status
    t.deepEqual([await withKey(hers), await withKey(off), await withKey(his)], [401, 401, 200])
    t.is(
      (await createClient(service.url(), ada.token).get('/users/me')).status,
      401,
      'nor with what was given out before',
    )
    await assertUsable(t, await service.logIn('bob'))
  },
)

testOnChosenStores(
  'a user whose registration is damaged cannot log in, everybody else can, and nobody is asked to set the service up',
  async (t) => {
    const { service } = await stoppedService(t)
    for (const stream of ['user-1', 'user-2']) flipByte(service, stream, 0)
    await service.start()
    await assertUsable(t, await service.logIn('bob'))
    for (const [username, password] of [
      ['ada', passwordOf('ada')],
      [ADMIN.username, ADMIN.password],
    ] as const)
      t.is((await service.anonymous().form('/login', { username, password })).status, 401)
    t.deepEqual((await reportedDamage(service)).streams, ['user-1: damaged', 'user-2: damaged'])
    flipByte({ ...service }, 'user-3', 0)
    await service.kill()
    await service.start()
    t.notRegex(service.log(), /setup#token/)
    t.is((await reportedDamage(service)).status, 200)
  },
)

testOnChosenStores('with a damaged row among the admissions no live is created, and all else goes on', async (t) => {
  const { service, live } = await stoppedService(t)
  flipByte(service, 'admission', 1)
  await service.start()
  const ada = await service.logIn('ada')
  t.is((await ada.post('/lives', { model: 'demo-en', language: 'en' })).status, 503)
  t.is((await ada.get(`/lives/${live.id}`)).status, 200)
  t.is((await ada.post('/tokens', { name: 'second' })).status, 200)
  t.deepEqual(await reportedDamage(service), { status: 200, streams: ['admission: damaged'], missing: [] })
})

test('an event that fits no definition is damaged too', async (t) => {
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
