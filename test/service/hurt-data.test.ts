import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { right } from '../contracts/event-store-support.ts'
import { isOnServers } from '../support/chosen-stores.ts'
import { createClient } from '../support/client.ts'
import type { Client, Json, Listing, LiveJson, Single } from '../support/client.ts'
import { stenolog } from '../support/command-line.ts'
import { ADMIN, passwordOf, runTestService, startTestService } from '../support/service.ts'
import type { TestService } from '../support/service.ts'
import { dataOf } from '../support/stored-data.ts'
import { testHere } from '../support/skip-unless.ts'
import { openLogOf } from '../support/stores.ts'

interface Hurt {
  readonly stream: string
  readonly problem: string
}

const hurtOf = async (service: TestService): Promise<{ readonly status: number; readonly streams: ReadonlyArray<string>; readonly missing: unknown }> => {
  const { status, body } = await service.anonymous().get<{ readonly checks: Json }>('/health/ready')
  const streams = (body.checks['hurtStreams'] as ReadonlyArray<Hurt>).map(({ stream, problem }) => `${stream}: ${problem}`)
  return { status, streams: streams.toSorted(), missing: body.checks['missingKeys'] }
}

interface Stopped {
  readonly service: TestService
  readonly live: LiveJson
  readonly tokenId: number
}

/** Ada (user 2) with a live, a token and a profile, and Bob (user 3); the process has ended. */
const make = async (service: TestService): Promise<Stopped> => {
  const ada = await service.user('ada')
  await service.user('bob')
  const live = await ada.createLive()
  const { body } = await ada.post<Single<{ readonly id: number }>>('/tokens', { name: 'ci' })
  assert.deepEqual(await hurtOf(service), { status: 200, streams: [], missing: [] }, 'nothing is said of a healthy log')
  await service.kill('SIGTERM')
  return { service, live, tokenId: body.data.id }
}

let made: Promise<Stopped> | undefined
const closing: Array<() => Promise<void>> = []
test.after.always(async () => {
  for (const close of closing) await close()
})

const makeOnce = async (): Promise<Stopped> => {
  const { dispose, ...service } = await runTestService()
  closing.push(dispose)
  return make(service)
}

/** A copy for each test, but of data on servers: those are made anew. */
const stopped = async (t: ExecutionContext): Promise<Stopped> => {
  if (isOnServers) return make(await startTestService(t))
  const original = await (made ??= makeOnce())
  return { ...original, service: await startTestService(t, {}, original.service.dataDirectory) }
}

const append = async (service: TestService, stream: string, type: string, data: Json): Promise<void> => {
  const log = await openLogOf(service)
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: '2026-11-21T09:30:00.123456+00:00' }
  await right(log.append(stream, 'any', [{ id: randomUUID(), type, data, metadata }]))
  await log.close()
}

/** Changes one byte of what was written at `revision` of a stream. */
const flipByte = ({ dataDirectory }: TestService, stream: string, revision: number): void => {
  const database = new DatabaseSync(join(dataDirectory, 'events.sqlite'))
  const changed = database
    .prepare("UPDATE events SET metadata = replace(metadata, 'recordedAt', 'recordedAu') WHERE rev = ? AND sid = (SELECT sid FROM streams WHERE name = ?)")
    .run(revision, stream).changes
  database.close()
  if (Number(changed) !== 1) throw new Error(`no revision ${revision} of ${stream}`)
}

/** What somebody does whose own data is whole. */
const goesOn = async (t: ExecutionContext, client: Client): Promise<void> => {
  const live = await client.createLive()
  t.is((await client.get(`/lives/${live.id}`)).status, 200)
  t.is((await client.put(`/lives/${live.id}/finish`)).status, 200)
  t.is((await client.post('/tokens', { name: 'mine' })).status, 200)
  t.is((await client.get<Listing<LiveJson>>('/lives/')).body.data[0]?.id, live.id)
}

test('an event of a newer version stops nothing but what needs its stream, and the stream is named', async (t) => {
  const { service, live, tokenId } = await stopped(t)
  const streams = [`live-${live.id}`, 'user-2', `api-token-${tokenId}`, `segments-${live.id}`, 'profiles-2', 'catalogue']
  for (const stream of streams) await append(service, stream, 'InventedLater', { liveId: live.id, userId: 2, tokenId, at: 'whenever' })
  await service.start()
  await goesOn(t, await service.logIn('bob'))
  const ada = await service.logIn('ada')
  t.is((await ada.get<Listing<LiveJson>>('/lives/')).body.data[0]?.status, 'pending', 'lists go on without it')
  const history = await ada.get<Listing<Json>>(`/lives/${live.id}/history`)
  t.deepEqual(history.body.data.map(({ type, data }) => [type, Object.keys(data as object).length > 0]), [['LiveCreated', true], ['InventedLater', false]])
  const admin = await service.admin()
  const models = (await admin.get<Listing<Json>>('/models/')).body.data
  const refused = [
    await ada.put(`/lives/${live.id}/finish`),
    await admin.put('/users/2', { is_active: false }),
    await ada.request('DELETE', `/tokens/${tokenId}`),
    await ada.post('/user-live-configs', { name: 'second', config: {} }),
    await admin.put(`/admin/models/${String(models[0]?.['id'])}`, { is_active: false }),
  ]
  for (const [n, { status, body }] of refused.entries()) t.deepEqual([n, status, /cannot be read/.test(String(body['detail']))], [n, 503, true])
  // The segments are read when somebody asks for them.
  const { status, streams: hurt } = await hurtOf(service)
  t.is(status, 200)
  t.deepEqual(hurt.filter((one) => !one.startsWith('segments-')), streams.filter((one) => !one.startsWith('segments-')).map((one) => `${one}: unknown-event`).toSorted())
  const { code, stdout } = await stenolog(service.dataDirectory, ['check'], service.stores)
  t.is(code, 1)
  for (const stream of streams) t.regex(stdout, new RegExp(`of ${stream}, position .*InventedLater, which this version does not know`))
})

test('with an event of a newer version among the admissions no live is created, and all else goes on', async (t) => {
  const { service, live } = await stopped(t)
  await append(service, 'admission', 'InventedLater', {})
  await service.start()
  const ada = await service.logIn('ada')
  const create = await ada.post('/lives', { model: 'demo-en', language: 'en' })
  t.deepEqual([create.status, /cannot be read/.test(String(create.body['detail']))], [503, true])
  t.is((await ada.get(`/lives/${live.id}`)).status, 200)
  t.is((await ada.post('/tokens', { name: 'second' })).status, 200)
  t.deepEqual(await hurtOf(service), { status: 200, streams: ['admission: unknown-event'], missing: [] })
})

testHere('a damaged row stops nothing but what needs its stream, wherever it stands, and the stream is named', async (t) => {
  const { service, live, tokenId } = await stopped(t)
  // Ahead of every checkpoint, and in streams that are read when somebody asks.
  await append(service, `live-${live.id}`, 'LiveStarted', { liveId: live.id, userId: 2, at: '2026-11-21T09:30:00.123456+00:00' })
  flipByte(service, `live-${live.id}`, 1)
  flipByte(service, `api-token-${tokenId}`, 0)
  flipByte(service, 'profiles-2', 0)
  await service.start()
  await goesOn(t, await service.logIn('bob'))
  const ada = await service.logIn('ada')
  t.is((await ada.get(`/lives/${live.id}`)).status, 200, 'a list knows what it knew')
  t.is((await ada.put(`/lives/${live.id}/finish`)).status, 503)
  t.is((await ada.createLive()).status, 'pending', 'a new one needs none of these')
  t.is((await ada.post('/user-live-configs', { name: 'second', config: {} })).status, 503)
  const { status, streams } = await hurtOf(service)
  t.is(status, 200)
  t.deepEqual(streams, [`api-token-${tokenId}: damaged`, `live-${live.id}: damaged`, 'profiles-2: damaged'].toSorted())
  t.is((await stenolog(service.dataDirectory, ['check'])).code, 1)
})

testHere('who or whose API token may have been switched off by what is damaged is let in nowhere, and everybody else is', async (t) => {
  const service = await startTestService(t)
  const at = '2026-11-21T09:30:00.123456+00:00'
  const [ada, bob] = [await service.user('ada'), await service.user('bob')]
  const issue = async (client: Client): Promise<{ readonly id: number; readonly secret: string }> => {
    const { body } = await client.post<Single<{ readonly id: number; readonly token: string }>>('/tokens', { name: 'ci' })
    return { id: body.data.id, secret: body.data.token }
  }
  const [hers, off, his] = [await issue(ada), await issue(bob), await issue(bob)]
  await service.kill('SIGTERM')
  await append(service, 'user-2', 'UserDisabled', { userId: 2, at })
  await append(service, `api-token-${off.id}`, 'ApiTokenDeactivated', { tokenId: off.id, userId: 3, at })
  flipByte(service, 'user-2', 1)
  flipByte(service, `api-token-${off.id}`, 1)
  await service.start()
  t.is((await service.anonymous().form('/login', { username: 'ada', password: passwordOf('ada') })).status, 401)
  const withKey = async ({ secret }: { readonly secret: string }): Promise<number> =>
    (await service.anonymous().request('GET', '/users/me', { headers: { 'x-api-key': secret } })).status
  t.deepEqual([await withKey(hers), await withKey(off), await withKey(his)], [401, 401, 200])
  t.is((await createClient(service.url(), ada.token).get('/users/me')).status, 401, 'nor with what was given out before')
  await goesOn(t, await service.logIn('bob'))
})

testHere('a user whose registration is damaged cannot log in, everybody else can, and nobody is asked to set the service up', async (t) => {
  const { service } = await stopped(t)
  for (const stream of ['user-1', 'user-2']) flipByte(service, stream, 0)
  await service.start()
  await goesOn(t, await service.logIn('bob'))
  for (const [username, password] of [['ada', passwordOf('ada')], [ADMIN.username, ADMIN.password]] as const)
    t.is((await service.anonymous().form('/login', { username, password })).status, 401)
  t.deepEqual((await hurtOf(service)).streams, ['user-1: damaged', 'user-2: damaged'])
  flipByte({ ...service }, 'user-3', 0)
  await service.kill()
  await service.start()
  t.notRegex(service.log(), /setup#token/)
  t.is((await hurtOf(service)).status, 200)
})

testHere('with a damaged row among the admissions no live is created, and all else goes on', async (t) => {
  const { service, live } = await stopped(t)
  flipByte(service, 'admission', 1)
  await service.start()
  const ada = await service.logIn('ada')
  t.is((await ada.post('/lives', { model: 'demo-en', language: 'en' })).status, 503)
  t.is((await ada.get(`/lives/${live.id}`)).status, 200)
  t.is((await ada.post('/tokens', { name: 'second' })).status, 200)
  t.deepEqual(await hurtOf(service), { status: 200, streams: ['admission: damaged'], missing: [] })
})

test('an event that fits no definition is damaged too', async (t) => {
  const { service } = await stopped(t)
  await append(service, 'user-3', 'UserDisabled', { userId: 'three' })
  await append(service, 'user-2', 'UserEnabled', {})
  await service.start()
  const admin = await service.admin()
  await goesOn(t, admin)
  t.is((await admin.put('/users/3', { is_active: false })).status, 503)
  t.deepEqual(await hurtOf(service), { status: 200, streams: ['user-2: damaged', 'user-3: damaged'], missing: [] })
})

test('an envelope that was sealed for another place is damage, and shows nothing of its text', async (t) => {
  const { service, tokenId } = await stopped(t)
  const log = await openLogOf(service)
  const [registered] = await right(log.read('user-2'))
  await log.close()
  // The name of the token would be the name of the user: both are sealed with the user's key.
  const name = registered && dataOf(registered)['username']
  await append(service, `api-token-${tokenId}`, 'ApiTokenRenamed', { tokenId, userId: 2, at: '2026-11-21T09:30:00.123456+00:00', name })
  await service.start()
  const ada = await service.logIn('ada')
  t.is((await ada.get<Listing<Json>>('/tokens/')).body.data[0]?.['name'], '[erased]')
  t.is((await ada.request('DELETE', `/tokens/${tokenId}`)).status, 503)
  t.deepEqual(await hurtOf(service), { status: 200, streams: [`api-token-${tokenId}: damaged`], missing: [] })
  t.regex((await stenolog(service.dataDirectory, ['check'], service.stores)).stdout, /api-token-.* was not sealed for it/)
})

testHere('a key that the keyring never made reads as erased and is named as missing; everybody else goes on', async (t) => {
  const { service } = await stopped(t)
  const keyring = new DatabaseSync(join(service.dataDirectory, 'keyring.sqlite'))
  t.is(Number(keyring.prepare("DELETE FROM keys WHERE name = 'user-2'").run().changes), 1)
  await service.start()
  await goesOn(t, await service.logIn('bob'))
  t.is((await service.anonymous().form('/login', { username: 'ada', password: passwordOf('ada') })).status, 401)
  t.deepEqual(await hurtOf(service), { status: 200, streams: [], missing: ['user-2'] })
  const admin = await service.admin()
  const { body } = await admin.get<Listing<Json>>('/users/')
  t.deepEqual(body.data.map(({ username }) => username), [ADMIN.username, '[erased]', 'bob'])
  t.is((await stenolog(service.dataDirectory, ['users', 'list'])).code, 0)
  // A new key under that name would hide for good what the old one can open.
  t.is((await admin.put('/users/2', { password: 'another password' })).status, 503)
  t.is(keyring.prepare("SELECT 1 FROM keys WHERE name = 'user-2'").get(), undefined)
  keyring.close()
  const { code, stdout } = await stenolog(service.dataDirectory, ['check'])
  t.is(code, 1)
  t.regex(stdout, /^ {2}key user-2: is missing, and was not erased: \d+ events are sealed with it/m)
  t.is(stdout.match(/key user-2/g)?.length, 1)
})
