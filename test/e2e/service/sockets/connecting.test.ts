import test from 'ava'
import { decodeJwt } from 'jose'
import {
  handshake, openSocket, type Client, type Json, type LiveJson, type Single, type TestSocket,
} from '../../../support/service/client.ts'
import { startTestService } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()
const ws = (path: string): string => service.url().replace('http', 'ws') + path

const statusOf = async (client: Client, id: number): Promise<string> =>
  (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data.status

test('every path and parameter accepts both tokens, and only the token decides role and session', async (t) => {
  const client = await service.user('paths')
  const live = await client.createLive()
  const connection = (role: string): Json => ({
    type: 'connection',
    status: 'connected',
    role,
    session_id: live.id,
    state: 'pending',
  })
  for (const prefix of ['', '/api/v1'])
    for (const path of ['/ws/live', '/ws/live/', `/ws/live/${live.id}`, `/ws/live/${live.id}/`])
      for (const name of ['token', 'token_sender']) {
        const socket = await openSocket(ws(`${prefix}${path}?${name}=${live.listener_token}`))
        t.deepEqual(await socket.frame(() => true), connection('listener'))
        socket.terminate()
      }
  const good = live.listener_token
  const both = await openSocket(`${live.base_url}${live.relative_path}?token=${good}&token_sender=${good}`)
  t.deepEqual(await both.frame(() => true), connection('listener'))
  both.terminate()
  for (const path of [(): string => '/ws/live/', (id: number) => `/api/v1/ws/live/${id}`]) {
    const own = await client.createLive()
    const socket = await openSocket(ws(`${path(own.id)}?token_sender=${own.sender_token}`))
    t.like(await socket.frame(() => true), { role: 'sender', session_id: own.id })
    t.is(
      socket.texts[0],
      `{"type":"connection","status":"connected","role":"sender","session_id":${own.id},"state":"pending"}`,
    )
    socket.close()
  }
})

test('a handshake needs one valid token of the session', async (t) => {
  const client = await service.user('refused sockets')
  const [live, other] = [await client.createLive(), await client.createLive()]
  const { listener_token: good, relative_path: path } = live
  const missing = ['', '?', '?token=', '?token_sender=', '?token=&token_sender=', '?Token=x', `?access_token=${good}`]
  for (const query of missing) {
    const { status, body, headers } = await handshake(ws(path + query))
    t.is(status, 401, query)
    t.deepEqual(body, { detail: 'Not authenticated' }, query)
    t.is(headers.get('www-authenticate'), 'Bearer')
  }
  const bad = [
    `${path}?token=unknown`,
    `${path}?token=${good}x`,
    `${path}?token=${good.toLowerCase()}`,
    `${path}?token=${client.token}`,
    `${path}?token=${good}&token_sender=${live.sender_token}`,
    `${path}?token=${good}&token=other`,
    `${other.relative_path}?token=${good}`,
    `/ws/live/999999?token=${good}`,
    `/ws/live/0?token=${good}`,
    `/ws/live?token=${'x'.repeat(5000)}`,
    `${path}?token=%00`,
    `${path}?token=%FF`,
  ]
  for (const badPath of bad) {
    const { status, body, headers } = await handshake(ws(badPath))
    t.is(status, 401, badPath)
    t.deepEqual(body, { detail: 'Could not validate credentials' }, badPath)
    t.is(headers.get('www-authenticate'), 'Bearer')
  }
  for (const headers of [{ authorization: `Bearer ${good}` }, { cookie: `token=${good}` }, { 'x-api-key': good }])
    t.is((await handshake(ws(path), headers)).status, 401)
  for (const unknownPath of [
    '/ws',
    '/ws/lives',
    '/ws/live/abc',
    `/ws/live/-${live.id}`,
    `/ws/live/${live.id}/x`,
    '/',
    '/lives/',
  ]) {
    const { status, body } = await handshake(ws(`${unknownPath}?token=${good}`))
    t.is(status, 404, unknownPath)
    t.deepEqual(body, { detail: 'Not Found' })
  }
  for (let guess = 0; guess < 12; guess += 1) t.is((await handshake(ws(`${path}?token=guess-${guess}`))).status, 401)
  t.is(
    (await handshake(ws(`${path}?token=${good}`))).status,
    101,
    'with RATE_LIMIT=0 failures do not block a client',
  )
})

test('a second sender is closed with 4409, and the first sender is not affected', async (t) => {
  const client = await service.user('seconds')
  const live = await client.createLive()
  const first = await client.socket(live, 'sender')
  const second = await client.socket(live, 'sender')
  t.deepEqual(await second.closed, { code: 4409, reason: 'sender_already_connected' })
  t.deepEqual(second.frames.map(({ type, code }) => code ?? type), ['connection', 'sender_already_connected'])
  t.is(typeof second.frames[1]?.['detail'], 'string')
  first.send({ type: 'config' })
  await first.frame(({ status }) => status === 'started')
  t.is(await statusOf(client, live.id), 'pending')
  first.terminate()
  await client.untilStatus(live, 'finished')
})

test('a listener may join a pending session, and its departure changes nothing', async (t) => {
  const client = await service.user('patient')
  const live = await client.createLive()
  const listen = (): Promise<TestSocket> => client.socket(live, 'listener')
  const [leaving, cut, staying] = [await listen(), await listen(), await listen()]
  leaving.close()
  t.is((await leaving.closed).code, 1005)
  cut.terminate()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await staying.frame(({ status }) => status === 'started')
  t.is(await statusOf(client, live.id), 'pending')
  t.deepEqual(staying.texts.slice(1), ['{"status":"started"}'], 'a listener does not get "ASR process started"')
  sender.close()
  t.deepEqual(await staying.closed, { code: 1000, reason: '' })
})

test('a token of an ended session connects, gets session_finished and is closed with 4410', async (t) => {
  const client = await service.user('late')
  const live = await client.createLive()
  await client.put(`/lives/${live.id}/finish`)
  for (const role of ['sender', 'listener'] as const) {
    const socket = await client.socket(live, role)
    t.deepEqual(await socket.closed, { code: 4410, reason: 'session_finished' })
    t.is(socket.frames.length, 2)
    t.deepEqual(socket.frames[0], {
      type: 'connection',
      status: 'connected',
      role,
      session_id: live.id,
      state: 'finished',
    })
    t.like(socket.frames[1], { type: 'error', code: 'session_finished' })
  }
})

test('a custom token opens its owner’s newest open session, or the session with the given id', async (t) => {
  const client = await service.user('embedder')
  const listener_token = 'stable-public-token'
  const create = (): Promise<LiveJson> => client.createLive({ listener_token })
  const lives = [await create(), await create(), await create()]
  const foreign = await client.createLive()
  const sessionOf = async (path: string): Promise<unknown> => {
    const socket = await openSocket(ws(`${path}?token=${listener_token}`))
    const { session_id: session } = await socket.frame(() => true)
    socket.terminate()
    return session
  }
  t.is(await sessionOf('/ws/live'), lives[2]?.id)
  await client.put(`/lives/${lives[2]?.id}/finish`)
  t.is(await sessionOf('/ws/live/'), lives[1]?.id)
  for (const { id } of lives) t.is(await sessionOf(`/ws/live/${id}`), id)
  t.is((await handshake(ws(`/ws/live/${foreign.id}?token=${listener_token}`))).status, 401)
})

test('BASE_PATH, PUBLIC_URL, JWT_TTL and the origin lists apply to REST and WebSocket', async (t) => {
  const proxied = await startTestService(t, {
    BASE_PATH: '/backend',
    PUBLIC_URL: 'https://captions.example',
    WS_ORIGINS: 'https://ok.example',
    CORS_ORIGINS: 'https://ok.example',
    JWT_TTL: '90m',
  })
  const client = await proxied.user('proxied')
  const { exp, iat } = decodeJwt(client.token ?? '')
  t.is(Number(exp) - Number(iat), 90 * 60)
  for (const prefix of ['', '/api/v1', '/backend']) t.is((await client.get(`${prefix}/lives/`)).status, 200, prefix)
  const live = await client.createLive({ size_text: 28 })
  t.is(live['base_url'], 'wss://captions.example/backend')
  t.true(
    String(live['iframe_html']).startsWith(
      `<iframe src="https://captions.example/backend/embed/live/${live.id}?size_text=28` +
        `#token=${live.listener_token}" `,
    ),
  )
  for (const [origin, status] of [
    ['https://ok.example', 101],
    ['https://evil.example', 403],
    ['null', 403],
  ] as const) {
    const url = `${proxied.url().replace('http', 'ws')}/backend${live.relative_path}?token=${live.listener_token}`
    t.is((await handshake(url, { origin })).status, status, origin)
    const { headers } = await client.request('GET', '/version', { headers: { origin } })
    t.is(headers.get('access-control-allow-origin') ?? '', status === 101 ? origin : '')
  }
})
