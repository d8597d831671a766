import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { ROUTES } from '../../../../interfaces/http/route-table.ts'
import type { Route } from '../../../../interfaces/http/route.ts'
import {
  createClient, handshake, type Client, type Json, type Listing, type LiveJson, type Single,
} from '../../../support/service/client.ts'
import { passwordOf, runTestService } from '../../../support/service/service.ts'
import { isOnServers } from '../../../support/stores/chosen-stores.ts'

// All tests share this service. Tests with other settings are in test/api/http, limits.test.ts and test/nightly.
const service = await runTestService({ LOG_LEVEL: 'trace' })
const anonymous = service.anonymous()

const TOKEN = 'listener-of-ann'
const URL_OF_ANN = 'https://radio.example/ann.m3u8?key=a'
const ann = await service.user('ann', { permissions: ['user_retention'] })
const eve = await service.user('eve')
const live = await ann.createLive({
  audio_format: 'hls',
  audio_url: URL_OF_ANN,
  listener_token: TOKEN,
  live_retention: true,
})
const profile = (await ann.post<Single<{ readonly id: number }>>('/user-live-configs/', { name: 'of ann' })).body.data
const key = (await ann.post<Single<{ readonly id: number; readonly token: string }>>('/tokens/', { name: 'of ann' }))
  .body.data
/** Eve’s API key: each forbidden request is tried with her login and with her key. */
const eveKey = createClient(
  service.url(),
  (await eve.post<Single<{ readonly token: string }>>('/tokens/', { name: 'of eve' })).body.data.token,
)

test.after.always(() => service.dispose())

/** Returns the id of Ann’s resource for the route. */
const idFor = ({ path }: Route): number =>
  path.startsWith('/lives')
    ? live.id
    : path.startsWith('/tokens')
      ? key.id
      : path.startsWith('/user-live-configs')
        ? profile.id
        : 1

const bodyFor = ({ path, body }: Route): Json | undefined => {
  if (body === undefined) return undefined
  if (path === '/users') return { username: 'made-by-eve', password: 'long enough' }
  if (path === '/lives') return { model: 'demo-en', language: 'en' }
  if (path === '/users/me/password') return { current_password: 'a guess', new_password: 'long enough' }
  return { name: 'taken over', is_active: true, audio_url: URL_OF_ANN }
}

const send = (client: Client, route: Route) => {
  const body = bodyFor(route)
  return client.request(route.method, route.path.replace(':id', String(idFor(route))).replace(':entry', '1'), {
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
}

/** Returns everything that Ann owns, as she sees it. */
const belongings = async (): Promise<unknown> =>
  Promise.all(
    ['/lives/', `/lives/${live.id}`, '/user-live-configs/', '/tokens/', '/users/me'].map(
      async (path) => (await ann.get(path)).body,
    ),
  )

test.serial('every route with an id answers 404 for another user’s data, and no list shows it', async (t) => {
  const before = await belongings()
  const owned = ROUTES.filter(({ access, path }) => access !== 'public' && access !== 'admin' && path.includes(':id'))
  t.true(owned.length >= 9, 'the routes were found')
  for (const route of owned)
    for (const client of route.access === 'login' ? [eve] : [eve, eveKey]) {
      const answer = await send(client, route)
      t.is(answer.status, 404, `${route.method} ${route.path}`)
      t.is(typeof answer.body['detail'], 'string')
    }
  const lists = ROUTES.filter(
    ({ method, access, path }) => method === 'GET' && access === 'private' && !path.includes(':id'),
  )
  for (const route of lists)
    t.notRegex(JSON.stringify((await send(eve, route)).body), /of ann|listener-of-ann|radio\.example/, route.path)
  t.deepEqual((await eve.put<Listing<LiveJson>>('/lives/finish-by-audio_url', { audio_url: URL_OF_ANN })).body.data, [])
  const ws = service.url().replace('http', 'ws')
  const liveOfEve = await eve.createLive()
  for (const token of [live.sender_token, TOKEN])
    t.is((await handshake(`${ws}/ws/live/${liveOfEve.id}?token=${token}`)).status, 401)
  for (const token of [eve.token, liveOfEve.sender_token, key.token])
    t.is((await handshake(`${ws}/ws/live/${live.id}?token=${token}`)).status, 401)
  t.is((await eve.post('/lives', { model: 'demo-en', language: 'en', listener_token: TOKEN })).status, 422)
  t.deepEqual(await belongings(), before)
})

test.serial(
  'admin routes answer 403 to users and API keys, and claimed privileges in a body are ignored',
  async (t) => {
    const admin = ROUTES.filter(({ access }) => access === 'admin')
    t.true(admin.length >= 8, 'the routes were found')
    for (const route of admin) {
      for (const client of [eve, eveKey]) t.is((await send(client, route)).status, 403, `${route.method} ${route.path}`)
      t.is((await send(anonymous, route)).status, 401)
    }
    t.is((await eveKey.post('/tokens/', { name: 'minted' })).status, 403, 'a key cannot create keys')
    const claims = {
      id: 9999,
      userId: 1,
      user_id: 1,
      vram: 0,
      status: 'finished',
      is_admin: true,
      permissions: ['admin'],
      sender_token: 'mine-mine',
      auto_start_pid: 1,
    }
    const claimed = await eve.createLive(claims)
    t.not(claimed.id, 9999)
    t.is(claimed.status, 'pending')
    t.true(claimed.vram > 0)
    t.not(claimed.sender_token, 'mine-mine')
    t.is((await eve.put('/users/me', { permissions: ['admin'], max_sessions: 1000 })).status, 405)
    await eve.post('/user-live-configs/', { name: 'p', ...claims })
    t.deepEqual((await eve.get<Single<Json>>('/users/me')).body.data['permissions'], [])
    t.deepEqual((await eve.get<Single<Json>>('/users/me')).body.data['max_sessions'], 10)
  },
)

test.serial('client text cannot inject log lines: every line is a complete JSON object', async (t) => {
  const forged = 'x\r\n{"level":30,"msg":"forged"}\u2028\u001b[2J'
  await anonymous.form('/login', { username: forged, password: forged })
  await eve.get(`/lives/?status=${encodeURIComponent(forged)}&name=${encodeURIComponent(forged)}`)
  await eve.get(`/lives/${encodeURIComponent('\r\n{"level":30}')}`)
  await eve.post('/user-live-configs/', { name: forged })
  await handshake(
    `${service.url().replace('http', 'ws')}/ws/live/${encodeURIComponent('\r\n{"a":1}')}` +
      `?token=${encodeURIComponent(forged)}`,
  )
  const lines = service.log().split('\n').filter((line) => line.startsWith('{') || line.includes('forged'))
  t.true(lines.length > 50)
  for (const line of lines) {
    const parsed = JSON.parse(line) as Json
    t.not(parsed['msg'], 'forged')
    // eslint-disable-next-line no-control-regex -- the test searches for control characters
    t.notRegex(line, /[\u0000-\u001f]/)
  }
})

/** Returns the ids of all descendants of a process (Linux). */
const descendants = (pid: number): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((text) => text !== '')
    .map(Number)
    .flatMap((child) => [child, ...descendants(child)])

test.serial('only the owner can read the data directory, and no process has a secret in its arguments', async (t) => {
  const modes = readdirSync(service.dataDirectory, { withFileTypes: true, recursive: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return [path, statSync(path).mode & 0o077] as const
  })
  t.true(modes.length > (isOnServers ? 0 : 5))
  t.deepEqual(modes.filter(([, modeOfOthers]) => modeOfOthers !== 0), [])
  if (process.platform !== 'linux') return
  const processes = [service.pid(), ...descendants(service.pid())]
  t.true(processes.length > 1, 'the engine is a separate process')
  for (const pid of processes) {
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    for (const secret of ['radio.example', passwordOf('ann'), 'correct horse', key.token])
      t.false(words.includes(secret), words)
  }
})
