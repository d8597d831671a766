import test from 'ava'
import assert from 'node:assert/strict'
import { openSocket } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { audioOf, shakeHands, startSockets } from '../../support/worlds/socket-world.ts'

const hello = (role: string, id: number, state = 'pending'): string =>
  `{"type":"connection","status":"connected","role":"${role}","session_id":${id},"state":"${state}"}`

test('all four paths, every prefix and both parameters accept both roles', async (t) => {
  const { origin, lifecycle } = await startSockets(t)
  for (const prefix of ['', '/api/v1']) {
    for (const parameter of ['token', 'token_sender']) {
      for (const role of ['sender', 'listener'] as const) {
        for (const form of ['/ws/live', '/ws/live/', '/ws/live/<id>', '/ws/live/<id>/']) {
          const live = lifecycle.add()
          const token = role === 'sender' ? live.senderToken : live.listenerToken
          const url = `${origin}${prefix}${form.replace('<id>', String(live.id))}?${parameter}=${token}`
          const socket = await openSocket(url)
          await socket.frame(({ type }) => type === 'connection')
          t.is(socket.texts[0], hello(role, live.id), url)
        }
      }
    }
  }
})

test('the same token in both parameters, or twice in one, counts as one token', async (t) => {
  const { origin, lifecycle } = await startSockets(t)
  const { listenerToken } = lifecycle.add()
  t.is((await shakeHands(`${origin}/ws/live?token=${listenerToken}&token_sender=${listenerToken}`)).status, 101)
  t.is((await shakeHands(`${origin}/ws/live?token=${listenerToken}&token=${listenerToken}`)).status, 101)
  for (const query of [
    `token=&token_sender=${listenerToken}`,
    `token=${listenerToken}&token_sender=`,
    `token=${listenerToken}&token=`,
  ])
    t.is((await shakeHands(`${origin}/ws/live?${query}`)).status, 101, `an empty token is ignored: ${query}`)
})

test('the log and the answer identify a handshake by the same request id', async (t) => {
  const { origin, lifecycle, logger } = await startSockets(t)
  const url = `${origin}/ws/live?token=${lifecycle.add().listenerToken}`
  const loggedFor = (message: string) =>
    logger.lines.filter((line) => line.message === message).map(({ fields }) => fields['requestId'])
  t.is((await shakeHands(url, { 'X-Request-ID': 'mine' })).headers['x-request-id'], 'mine')
  await eventually(() => assert.deepEqual(loggedFor('socket closed'), ['mine']))
  const generated = (await shakeHands(url, { 'X-Request-ID': 'not mine' })).headers['x-request-id']
  t.regex(String(generated), /^[0-9a-f-]{36}$/)
  await eventually(() => assert.deepEqual(loggedFor('socket closed'), ['mine', generated]))
  t.is((await shakeHands(`${origin}/ws/live`, { 'X-Request-ID': 'refused' })).headers['x-request-id'], 'refused')
  t.deepEqual(loggedFor('socket refused'), ['refused'])
})

test('a handshake without a valid token of the session is 401 with a detail', async (t) => {
  const { origin, lifecycle, logger } = await startSockets(t)
  const [live, other] = [lifecycle.add(), lifecycle.add()]
  const refused = [
    '/ws/live',
    '/ws/live?',
    '/ws/live?token=',
    '/ws/live?token=&token_sender=',
    '/ws/live?token=unknown',
    `/ws/live?token=${live.senderToken}&token_sender=${live.listenerToken}`,
    `/ws/live?token=${live.senderToken}&token=${other.senderToken}`,
    `/ws/live/${other.id}?token=${live.senderToken}`,
    `/ws/live/0?token=${live.senderToken}`,
    `/ws/live/99999999999999999999?token=${live.senderToken}`,
    `/ws/live?token=${'x'.repeat(4000)}`,
  ]
  const headers = {
    Cookie: `token=${live.senderToken}`,
    Authorization: `Bearer ${live.senderToken}`,
    'X-API-Key': live.senderToken,
  }
  for (const path of refused) {
    const answer = await shakeHands(origin + path, headers)
    t.is(answer.status, 401, path)
    t.is(typeof JSON.parse(answer.body).detail, 'string')
    t.is(answer.headers['www-authenticate'], 'Bearer')
  }
  t.is((await shakeHands(`${origin}/ws/live`)).body, '{"detail":"Not authenticated"}')
  t.is((await shakeHands(`${origin}/ws/live?token=unknown`)).body, '{"detail":"Could not validate credentials"}')
  t.notRegex(JSON.stringify(logger.lines), /sender-1|listener-1/, 'no token is logged')
})

test('a handshake with a body is 400, because its bytes would be read as frames', async (t) => {
  const { origin, lifecycle } = await startSockets(t)
  const url = `${origin}/ws/live?token=${lifecycle.add().listenerToken}`
  for (const headers of [{ 'Content-Length': '3' }, { 'Transfer-Encoding': 'chunked' }] as const) {
    const { status, body } = await shakeHands(url, headers)
    t.deepEqual([status, body], [400, '{"detail":"A WebSocket handshake has no body"}'], JSON.stringify(headers))
  }
  t.is((await shakeHands(url, { 'Content-Length': '0' })).status, 101)
})

test('a handshake on an unknown path answers 404', async (t) => {
  const { origin, lifecycle } = await startSockets(t)
  const { senderToken } = lifecycle.add()
  const paths = ['/', '/ws', '/ws/lives', '/ws/live/1/2', '/ws/live/x', '/ws/live//', '/ws/live/-1', '/api/v2/ws/live']
  for (const path of paths) {
    const answer = await shakeHands(`${origin}${path}?token=${senderToken}`)
    t.is(answer.status, 404, path)
    t.is(answer.body, '{"detail":"Not Found"}')
  }
})

test('an unlisted Origin is refused; a listed Origin and a missing Origin connect', async (t) => {
  const { origin, lifecycle } = await startSockets(t, {}, { origins: ['https://captions.example'] })
  const url = `${origin}/ws/live?token=${lifecycle.add().listenerToken}`
  t.is((await shakeHands(url, { Origin: 'https://elsewhere.example' })).status, 403)
  t.is((await shakeHands(url, { Origin: 'null' })).status, 403)
  t.is((await shakeHands(url, { Origin: 'https://captions.example' })).status, 101)
  t.is((await shakeHands(url)).status, 101)
  const sandboxed = await startSockets(t, {}, { origins: ['null'] })
  const inFrame = `${sandboxed.origin}/ws/live?token=${sandboxed.lifecycle.add().listenerToken}`
  t.is(
    (await shakeHands(inFrame, { Origin: 'null' })).status,
    101,
    'the origin of a sandboxed frame, when it is listed',
  )
})

test('behind a trusted proxy failed handshakes count for the client, not for the proxy', async (t) => {
  const { origin } = await startSockets(t, {}, { failedHandshakesPerMinute: 2, trustedProxies: ['127.0.0.0/8'] })
  const guess = async (client: string): Promise<number> =>
    (await shakeHands(`${origin}/ws/live?token=guess`, { 'X-Forwarded-For': client })).status
  t.deepEqual(
    [await guess('192.0.2.1'), await guess('198.51.100.7, 192.0.2.1'), await guess('192.0.2.1')],
    [401, 401, 429],
  )
  t.is(await guess('192.0.2.2'), 401)
  t.deepEqual(
    [await guess('2001:db8::1'), await guess('2001:db8::2'), await guess('2001:db8::3')],
    [401, 401, 429],
    'a /64 counts as one client',
  )
  const withoutProxy = await startSockets(t, {}, { failedHandshakesPerMinute: 2 })
  const guessDirectly = async (client: string): Promise<number> =>
    (await shakeHands(`${withoutProxy.origin}/ws/live?token=x`, { 'X-Forwarded-For': client })).status
  t.deepEqual(
    [await guessDirectly('192.0.2.1'), await guessDirectly('192.0.2.2'), await guessDirectly('192.0.2.3')],
    [401, 401, 429],
  )
})

test('a handshake is 503 while the service drains or the store is unavailable', async (t) => {
  const { origin, lifecycle, setDraining } = await startSockets(t)
  const url = `${origin}/ws/live?token=${lifecycle.add().senderToken}`
  setDraining(true)
  t.is((await shakeHands(url)).status, 503)
  setDraining(false)
  lifecycle.setUnavailable(true)
  t.is((await shakeHands(url)).status, 503)
  lifecycle.setUnavailable(false)
  t.is((await shakeHands(url)).status, 101)
})

test('too many failed handshakes of an address are 429 for a minute; valid tokens never count', async (t) => {
  const { origin, lifecycle, timers } = await startSockets(t, {}, { failedHandshakesPerMinute: 3 })
  const good = `${origin}/ws/live?token=${lifecycle.add().listenerToken}`
  for (let i = 0; i < 5; i += 1) t.is((await shakeHands(good)).status, 101)
  for (let i = 0; i < 3; i += 1) t.is((await shakeHands(`${origin}/ws/live?token=guess`)).status, 401)
  t.is((await shakeHands(`${origin}/ws/live?token=guess`)).status, 429)
  timers.advance(60_000)
  t.is((await shakeHands(good)).status, 101)
})

test('a handshake over the socket limit is 429; open sockets stay, and a closed socket frees its place', async (t) => {
  const { origin, lifecycle, listener } = await startSockets(t, {}, { maxSockets: 2 })
  const live = lifecycle.add()
  const [first, second] = [await listener(live), await listener(live)]
  t.is((await shakeHands(`${origin}/ws/live?token=${live.listenerToken}`)).status, 429)
  first.close()
  await first.closed
  const third = await listener(live)
  for (const socket of [second, third]) {
    socket.send({ type: 'ping' })
    await socket.frame(({ type }) => type === 'pong')
  }
  t.pass()
})

test('a malformed handshake of a sender leaves the session free for the next sender', async (t) => {
  const { origin, lifecycle, sender } = await startSockets(t)
  const live = lifecycle.add()
  t.is(
    (await shakeHands(`${origin}/ws/live?token=${live.senderToken}`, { 'Sec-WebSocket-Key': 'too short' })).status,
    400,
  )
  await eventually(() => assert.equal(live.attached, false))
  const socket = await sender(live)
  await socket.frame(({ type }) => type === 'connection')
  t.is(live.status, 'pending')
})

for (const role of ['sender', 'listener'] as const) {
  test(`a ${role} of an ended session gets session_finished and is closed with 4410`, async (t) => {
    const fixture = await startSockets(t)
    const live = fixture.lifecycle.add()
    fixture.lifecycle.endElsewhere(live.id, { status: 'finished', reason: 'finish_route' })
    const socket = await fixture[role](live)
    t.deepEqual(await socket.closed, { code: 4410, reason: 'session_finished' })
    t.is(socket.texts[0], hello(role, live.id, 'finished'))
    t.like(socket.frames[1], { type: 'error', code: 'session_finished' })
    t.is(socket.frames.length, 2)
  })
}

test('a listener of a session that just ended gets 4410 although the read model lags', async (t) => {
  const { bus, lifecycle, listener } = await startSockets(t)
  const live = lifecycle.add()
  bus.publish(live.id, { kind: 'ended', cause: { status: 'finished', reason: 'finish_route' } })
  const socket = await listener(live)
  t.deepEqual(await socket.closed, { code: 4410, reason: 'session_finished' })
  t.is(socket.texts[0], hello('listener', live.id, 'finished'))
})

test('an unexpected error ends only its own handshake (500) or socket (1011) and is logged', async (t) => {
  const failingRead = async () => {
    throw new Error('inner detail')
  }
  const { origin, lifecycle, pipelines, configured, logger } = await startSockets(
    t,
    {},
    {},
    { storedFinals: failingRead },
  )
  const [faulty, sound] = [lifecycle.add(), lifecycle.add()]
  const refused = await shakeHands(`${origin}/ws/live?token=${sound.listenerToken}&after=0`)
  t.deepEqual([refused.status, refused.body], [500, '{"detail":"Internal Server Error"}'])
  const [faultySender, soundSender] = [await configured(faulty), await configured(sound)]
  // A frozen list makes the next audio frame of this session throw.
  Object.freeze(pipelines.of(faulty.id).pushed)
  faultySender.sendAudio(audioOf(0.1))
  t.is((await faultySender.closed).code, 1011)
  await eventually(() => assert.equal(faulty.status, 'finished'))
  soundSender.sendAudio(audioOf(0.1))
  await eventually(() => assert.equal(pipelines.of(sound.id).samples(), 1600))
  t.deepEqual(
    logger.lines.filter(({ level }) => level === 'error').map(({ message }) => message),
    ['unexpected error in a handshake', 'unexpected error on a socket'],
  )
})
