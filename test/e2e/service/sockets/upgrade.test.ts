import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { handshake } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { openRaw } from '../../../support/tools/raw-connection.ts'
import { ADMIN,  startTestService } from '../../../support/service/service.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

/** Headers that offer HTTP/2 without TLS (h2c). */
const H2C_OFFER =
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n'

const VERSION = 'GET /version HTTP/1.1\r\nHost: x\r\n\r\n'

/** Sends the requests on one connection, each after the answer to the previous one, and returns all answers. */
const exchange = async (t: ExecutionContext, ...requests: ReadonlyArray<string>): Promise<string> => {
  const socket = connect(Number(new URL(service.url()).port), '127.0.0.1')
  t.teardown(() => socket.destroy())
  let read = ''
  socket.on('data', (chunk: Buffer) => (read += chunk.toString('latin1')))
  for (const [index, request] of requests.entries()) {
    socket.write(request)
    await eventually(() => {
      // Every answer here has a JSON body or is the first frame of a WebSocket.
      if (read.split(/\r\n\r\n[^{]*\{/).length !== index + 2) throw new Error(`so far: ${read.slice(0, 2000)}`)
    })
  }
  return read
}

const statuses = (read: string): ReadonlyArray<string> =>
  [...read.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status = '']) => status)

test('a request that offers h2c is answered over HTTP/1.1, and the connection stays usable', async (t) => {
  const read = await exchange(t, `GET /languages/ HTTP/1.1\r\nHost: x\r\n${H2C_OFFER}\r\n`, VERSION)
  t.deepEqual(statuses(read), ['200', '200'])
  t.regex(read, /"iso_639_1"/)
})

test('a request that offers h2c is read with its whole body', async (t) => {
  const body = new URLSearchParams({ username: ADMIN.username, password: ADMIN.password }).toString()
  const head =
    'POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
    `Content-Length: ${body.length}\r\n${H2C_OFFER}\r\n`
  const read = await exchange(t, head + body, VERSION)
  t.deepEqual(statuses(read), ['200', '200'])
  t.regex(read, /"access_token"/)
})

test('offers of other protocols are ignored, also on a WebSocket path', async (t) => {
  for (const [path, status] of [['/version', '200'], ['/ws/live', '426'], ['/nowhere', '404']] as const)
    for (const protocol of ['h2c', 'TLS/1.0', 'h2c, foo/2']) {
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`
      t.deepEqual(statuses(await exchange(t, request)), [status], `${path} ${protocol}`)
    }
})

test('a WebSocket upgrade that is sent before the previous answer is refused with 426', async (t) => {
  const live = await (await service.user('eager')).createLive()
  const request =
    `GET ${live.relative_path}?token=${live.listener_token} HTTP/1.1\r\nHost: x\r\n` +
    'Connection: Upgrade\r\nUpgrade: websocket\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  const connection = await openRaw(t, service.url())
  connection.write(VERSION + request)
  await connection.answered(2)
  t.deepEqual(connection.statuses(), [200, 426])
  connection.write(request)
  await connection.answered(3)
  t.deepEqual(connection.statuses(), [200, 426, 101])
})

test('a WebSocket opens when the request offers h2c as well', async (t) => {
  const live = await (await service.user('offering')).createLive()
  const request =
    `GET ${live.relative_path}?token=${live.listener_token} HTTP/1.1\r\nHost: x\r\n` +
    'Connection: Upgrade\r\nUpgrade: h2c, WebSocket\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  const read = await exchange(t, request)
  t.deepEqual(statuses(read), ['101'])
})

test('a WebSocket path without an upgrade answers 426 and explains how to connect', async (t) => {
  const live = await (await service.user('asking')).createLive()
  for (const path of [
    '/ws/live',
    '/ws/live/',
    `/api/v1/ws/live/${live.id}`,
    `${live.relative_path}?token=${live.listener_token}`,
  ]) {
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    const read = await exchange(t, request)
    t.deepEqual(statuses(read), ['426'], path)
    t.regex(read, /\r\nUpgrade: websocket\r\n/i)
    t.regex(read, /\r\nConnection: Upgrade\r\n/i)
    t.regex(read, /\{"detail":"[^"]*WebSocket[^"]*token[^"]*"\}/)
    t.notRegex(read, new RegExp(live.listener_token))
  }
  const { status, headers } = await service.anonymous().request('POST', '/ws/live')
  t.deepEqual([status, headers.get('allow')], [405, 'GET, HEAD'])
  t.is((await fetch(`${service.url()}/ws/live`, { method: 'HEAD' })).status, 426)
})

test('a connection stays usable after a 426 answer', async (t) => {
  t.deepEqual(statuses(await exchange(t, 'GET /ws/live HTTP/1.1\r\nHost: x\r\n\r\n', VERSION)), ['426', '200'])
})

test('an empty token parameter is ignored', async (t) => {
  const live = await (await service.user('empty')).createLive()
  const socketUrl = service.url().replace('http', 'ws') + live.relative_path
  for (const query of [`token=&token_sender=${live.listener_token}`, `token=${live.listener_token}&token_sender=`])
    t.is((await handshake(`${socketUrl}?${query}`)).status, 101, query)
})

test('null in a config frame leaves the setting unchanged, as in REST', async (t) => {
  const client = await service.user('null')
  const live = await client.createLive({ config: { min_buffer: null, vad: null } })
  const sender = await client.socket(live, 'sender')
  sender.send({
    type: 'config',
    min_buffer: null,
    max_buffer: null,
    max_chars: 42,
    max_lines: null,
    vad: null,
    mode: null,
    punctuation: null,
  })
  t.deepEqual(
    await sender.frame(({ status, code }) => status !== 'connected' && (status !== undefined || code !== undefined)),
    { status: 'ASR process started' },
  )
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
})

test('a handshake completed while the service stops is refused and does not delay the stop', async (t) => {
  const stopping = await startTestService(t)
  const unfinished = await openRaw(t, stopping.url())
  unfinished.write('GET /ws/live?token=x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgr')
  t.is((await stopping.anonymous().get('/version')).status, 200, 'the service has read the unfinished handshake too')
  const exited = stopping.kill('SIGTERM')
  await eventually(async () => {
    const refused = await fetch(stopping.url()).then(() => false, () => true)
    if (!refused) throw new Error('the service still accepts connections')
  })
  unfinished.write('ade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n')
  t.regex(await unfinished.closed(), /^HTTP\/1\.1 503 /)
  t.is(await exited, 0)
})
