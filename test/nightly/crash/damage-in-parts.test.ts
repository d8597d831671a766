import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { right } from '../../contract/event-store-support.ts'
import type { Json, Listing, LiveJson } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import {
  appendEvent, disposeServices, flipByte, assertUsable, reportedDamage, stoppedService,
} from '../../support/service/damaged-data.ts'
import { ADMIN, passwordOf } from '../../support/service/service.ts'
import { dataOf } from '../../support/events/stored-data.ts'
import { testOnChosenStores } from '../../support/running/skip-unless.ts'
import { openLogOf } from '../../support/stores/stores.ts'

test.after.always(disposeServices)

test('an unknown event type blocks only writes to its stream, and the stream is reported', async (t) => {
  const { service, live, tokenId } = await stoppedService(t)
  const streams = [
    `live-${live.id}`,
    'user-2',
    `api-token-${tokenId}`,
    `segments-${live.id}`,
    'profiles-2',
    'catalogue',
  ]
  for (const stream of streams)
    await appendEvent(service, stream, 'InventedLater', { liveId: live.id, userId: 2, tokenId, at: 'whenever' })
  await service.start()
  await assertUsable(t, await service.logIn('bob'))
  const ada = await service.logIn('ada')
  t.is((await ada.get<Listing<LiveJson>>('/lives/')).body.data[0]?.status, 'pending', 'lists still show the session')
  const history = await ada.get<Listing<Json>>(`/lives/${live.id}/history`)
  t.deepEqual(
    history.body.data.map(({ type, data }) => [type, Object.keys(data as object).length > 0]),
    [['LiveCreated', true], ['InventedLater', false]],
  )
  const admin = await service.admin()
  const models = (await admin.get<Listing<Json>>('/models/')).body.data
  const refused = [
    await ada.put(`/lives/${live.id}/finish`),
    await admin.put('/users/2', { is_active: false }),
    await ada.request('DELETE', `/tokens/${tokenId}`),
    await ada.post('/user-live-configs', { name: 'second', config: {} }),
    await admin.put(`/admin/models/${String(models[0]?.['id'])}`, { is_active: false }),
  ]
  for (const [n, { status, body }] of refused.entries())
    t.deepEqual([n, status, /cannot be read/.test(String(body['detail']))], [n, 503, true])
  // Segments are read only on request, so their damage is not reported here.
  const { status, streams: reported } = await reportedDamage(service)
  t.is(status, 200)
  t.deepEqual(
    reported.filter((stream) => !stream.startsWith('segments-')),
    streams
      .filter((stream) => !stream.startsWith('segments-'))
      .map((stream) => `${stream}: unknown-event`)
      .toSorted(),
  )
  const { code, stdout } = await stenolog(service.dataDirectory, ['check'], service.stores)
  t.is(code, 1)
  for (const stream of streams)
    t.regex(stdout, new RegExp(`of ${stream}, position .*has the unknown type InventedLater`))
})

testOnChosenStores('a damaged row blocks only writes to its stream, and the stream is reported', async (t) => {
  const { service, live, tokenId } = await stoppedService(t)
  // One damaged row is later than all checkpoints; the others are in streams that are read only on request.
  await appendEvent(service, `live-${live.id}`, 'LiveStarted', {
    liveId: live.id,
    userId: 2,
    at: '2026-11-21T09:30:00.123456+00:00',
  })
  flipByte(service, `live-${live.id}`, 1)
  flipByte(service, `api-token-${tokenId}`, 0)
  flipByte(service, 'profiles-2', 0)
  await service.start()
  await assertUsable(t, await service.logIn('bob'))
  const ada = await service.logIn('ada')
  t.is((await ada.get(`/lives/${live.id}`)).status, 200, 'the read model still has the session')
  t.is((await ada.put(`/lives/${live.id}/finish`)).status, 503)
  t.is((await ada.createLive()).status, 'pending', 'a new session does not read the damaged streams')
  t.is((await ada.post('/user-live-configs', { name: 'second', config: {} })).status, 503)
  const { status, streams } = await reportedDamage(service)
  t.is(status, 200)
  t.deepEqual(
    streams,
    [`api-token-${tokenId}: damaged`, `live-${live.id}: damaged`, 'profiles-2: damaged'].toSorted(),
  )
  t.is((await stenolog(service.dataDirectory, ['check'])).code, 1)
})

test('a sealed value that was copied to another place counts as damaged and is not shown', async (t) => {
  const { service, tokenId } = await stoppedService(t)
  const log = await openLogOf(service)
  const [registered] = await right(log.read('user-2'))
  await log.close()
  // Copies the sealed user name into the token, which is sealed with the same key.
  const name = registered && dataOf(registered)['username']
  await appendEvent(service, `api-token-${tokenId}`, 'ApiTokenRenamed', {
    tokenId,
    userId: 2,
    at: '2026-11-21T09:30:00.123456+00:00',
    name,
  })
  await service.start()
  const ada = await service.logIn('ada')
  t.is((await ada.get<Listing<Json>>('/tokens/')).body.data[0]?.['name'], '[erased]')
  t.is((await ada.request('DELETE', `/tokens/${tokenId}`)).status, 503)
  t.deepEqual(await reportedDamage(service), { status: 200, streams: [`api-token-${tokenId}: damaged`], missing: [] })
  t.regex((await stenolog(service.dataDirectory, ['check'], service.stores)).stdout, /api-token-.* changed or copied/)
})

testOnChosenStores(
  'a lost key makes its user’s data read as erased and is reported as missing; other users are unaffected',
  async (t) => {
    const { service } = await stoppedService(t)
    const keyring = new DatabaseSync(join(service.dataDirectory, 'keyring.sqlite'))
    t.is(Number(keyring.prepare("DELETE FROM keys WHERE name = 'user-2'").run().changes), 1)
    await service.start()
    await assertUsable(t, await service.logIn('bob'))
    t.is((await service.anonymous().form('/login', { username: 'ada', password: passwordOf('ada') })).status, 401)
    t.deepEqual(await reportedDamage(service), { status: 200, streams: [], missing: ['user-2'] })
    const admin = await service.admin()
    const { body } = await admin.get<Listing<Json>>('/users/')
    t.deepEqual(body.data.map(({ username }) => username), [ADMIN.username, '[erased]', 'bob'])
    t.is((await stenolog(service.dataDirectory, ['users', 'list'])).code, 0)
    // A new key with this name would make the data of the lost key unreadable for good.
    t.is((await admin.put('/users/2', { password: 'another password' })).status, 503)
    t.is(keyring.prepare("SELECT 1 FROM keys WHERE name = 'user-2'").get(), undefined)
    keyring.close()
    const { code, stdout } = await stenolog(service.dataDirectory, ['check'])
    t.is(code, 1)
    t.regex(stdout, /^ {2}key user-2: is missing but was not erased: \d+ events are encrypted with it/m)
    t.is(stdout.match(/key user-2/g)?.length, 1)
  },
)
