import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'ava'
import type { Listing } from '../../support/service/client.ts'
import { runTestService, startTestService } from '../../support/service/service.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { resetConnections } from '../../support/tools/reset-connections.ts'
import { chanceOf } from '../../support/tools/seeded.ts'

/** Before the repair the service ended after 322 to 5,772 of such handshakes. */
const HANDSHAKES = 3000

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

const PATHS = ['/ws/live?token=wrong-token-of-a-stranger', '/ws/live', '/ws/nowhere']
const refusedUpgrade = (index: number): string => upgrade(PATHS[index % PATHS.length] ?? '')

const portOf = (url: string): number => Number(new URL(url).port)

test('refused handshakes on connections that are reset do not end the service', async (t) => {
  const service = await startTestService(t, { RATE_LIMIT: '50' })
  await resetConnections({ to: portOf(service.url()), bytes: refusedUpgrade, count: HANDSHAKES })
  t.is((await service.anonymous().get('/health/live')).status, 200)
  t.notRegex(service.log(), /unexpected error/)
})

/** Takes the error handlers from each upgraded connection. */
const WITHOUT_HANDLERS = `import { Server } from 'node:http'
const { emit } = Server.prototype
Server.prototype.emit = function (event, ...values) {
  const handled = emit.call(this, event, ...values)
  if (event === 'upgrade') values[1].removeAllListeners('error')
  return handled
}`

test('the same resets end a service without error handlers, so they reach it', async (t) => {
  const load = `--import=data:text/javascript,${encodeURIComponent(WITHOUT_HANDLERS)}`
  const service = await runTestService({ DRAIN_TIMEOUT: '0s' }, undefined, { NODE_OPTIONS: load })
  t.teardown(service.dispose)
  const to = portOf(service.url())
  await eventually(async () => {
    await resetConnections({ to, bytes: refusedUpgrade, count: 500 })
    assert.match(service.log(), /unexpected error; the service stops/)
  })
  t.pass()
})

test('resets at any byte stop no service, and a sender without audio leaves no event', async (t) => {
  const service = await startTestService(t, { RECONNECT_GRACE: '1m' })
  const user = await service.user('ada')
  const live = await user.createLive()
  const random = chanceOf(t).random('resets')
  const json = '{"model":"none","language":"en"}'
  const post = `POST /lives HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n`
    + `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
  const messages = [
    'GET /lives HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3), post, post.replace('/lives', '/control/rebuild/lives'),
    upgrade(`/ws/live?token=${live.sender_token}`), upgrade(`/ws/live/${live.id}?token=${live.sender_token}`),
    `${upgrade(`/ws/live?token=${live.listener_token}`)}\x81\x80\x00\x00\x00\x00`, ...PATHS.map(upgrade),
  ]
  const bytes = (): string => {
    const message = messages[Math.floor(random() * messages.length)] ?? ''
    // Half of the connections send a whole message, so all handlers run.
    return message.slice(0, Math.floor(Math.min(1, random() * 2) * message.length))
  }
  await resetConnections({ to: portOf(service.url()), bytes, count: 800 })
  await resetConnections({ to: join(service.dataDirectory, 'control.sock'), bytes, count: 300 })
  t.is((await service.anonymous().get('/health/live')).status, 200)
  t.regex(service.log(), /connection broke/, 'the resets arrived')
  t.notRegex(service.log(), /unexpected error/)

  const history = async (): Promise<ReadonlyArray<unknown>> =>
    (await user.get<Listing<{ readonly type: string }>>(`/lives/${live.id}/history`)).body.data.map(({ type }) => type)
  t.deepEqual(await history(), ['LiveCreated'])
  const sender = await eventually(async () => {
    const socket = await user.socket(live, 'sender')
    socket.send({ type: 'config' })
    await socket.frame(({ status }) => status === 'started')
    return socket
  })
  sender.sendAudio(new Int16Array(1600))
  await user.untilStatus(live, 'active')
  t.deepEqual(await history(), ['LiveCreated', 'SenderAttached', 'LiveStarted'])
})
