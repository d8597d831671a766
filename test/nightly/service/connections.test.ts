import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../support/tools/eventually.ts'
import { openRaw, type RawConnection } from '../../support/tools/raw-connection.ts'
import { runTestService } from '../../support/service/service.ts'

const service = await runTestService({ RATE_LIMIT: '500', TRUSTED_PROXIES: '127.0.0.1/32', LOG_LEVEL: 'trace' })
test.after.always(() => service.dispose())

/** An address of this machine that is not a trusted proxy. */
const DIRECT = '127.0.0.2'
const PROXY = '127.0.0.1'
/** Number of connections of one address that may be open without a complete request. */
const MAX_SILENT = 200
const UNFINISHED =
  'POST /login HTTP/1.1\r\nHost: localhost\r\n' +
  'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nusername='
const COMPLETE = 'GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n'
const READY = 'GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

const forClient = (client: string, request: string): string =>
  request.replace('\r\n\r\n', `\r\nX-Forwarded-For: ${client}\r\n\r\n`)

const openMany = (t: ExecutionContext, count: number, from: string): Promise<ReadonlyArray<RawConnection>> =>
  Promise.all(Array.from({ length: count }, () => openRaw(t, service.url(), from)))

const untilAtMost = (most: number, connections: ReadonlyArray<RawConnection>): Promise<void> =>
  eventually(() => {
    const open = connections.filter(({ socket }) => !socket.closed).length
    if (open > most) throw new Error(`${open} are open`)
  }, { timeoutMs: 10_000 })

const assertReady = async (t: ExecutionContext, from: string, request: string): Promise<void> => {
  const probe = await openRaw(t, service.url(), from)
  probe.write(request)
  t.regex(await probe.closed(), /^HTTP\/1\.1 200 /)
}

test.serial('clients with unfinished requests do not block other clients, even from the same address', async (t) => {
  const served = await openMany(t, MAX_SILENT + 60, DIRECT)
  for (const connection of served) connection.write(COMPLETE)
  for (const connection of served) await connection.answered(1)
  for (const connection of served) connection.write(UNFINISHED)
  await untilAtMost(MAX_SILENT, served)
  await assertReady(t, DIRECT, READY)
  const fresh = await openMany(t, MAX_SILENT + 10, DIRECT)
  for (const connection of fresh) connection.write('POST /login HTT')
  await untilAtMost(MAX_SILENT, fresh)
  await assertReady(t, DIRECT, READY)
})

test.serial('behind a streaming trusted proxy one client with unfinished requests does not block others', async (t) => {
  const unfinished = await openMany(t, MAX_SILENT + 60, PROXY)
  for (const connection of unfinished) connection.write(forClient('203.0.113.9', UNFINISHED))
  await untilAtMost(MAX_SILENT, unfinished)
  await assertReady(t, PROXY, forClient('203.0.113.10', READY))
  await assertReady(t, PROXY, READY)
  const others = await openMany(t, 20, PROXY)
  for (const connection of others) connection.write(forClient('203.0.113.11', UNFINISHED))
  await assertReady(t, PROXY, forClient('203.0.113.9', READY))
  t.true(others.every(({ socket }) => !socket.closed))
})

test.serial('a malformed request gets a standard error body, and its content stays out of the log', async (t) => {
  const secret = 'hunter2-and-more'
  const login =
    `POST /login HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n` +
    'Content-Type: application/x-www-form-urlencoded\r\n'
  const bad = [
    [400, `${login}Transfer-Encoding: chunked\r\n\r\nzz password=${secret}\r\n`],
    [400, COMPLETE.replace('Host: localhost\r\n', '')],
    [417, COMPLETE.replace('\r\n\r\n', `\r\nExpect: ${secret}\r\nConnection: close\r\n\r\n`)],
    [431, `${login}X: ${'x'.repeat(20_000)}\r\n\r\n`],
  ] as const
  for (const [status, bytes] of bad) {
    const connection = await openRaw(t, service.url(), DIRECT)
    connection.write(bytes)
    const answer = await connection.closed()
    t.deepEqual(connection.statuses(), [status])
    t.regex(answer, /\r\n\r\n\{"detail":"[^"]+"\}$/)
  }
  await eventually(() => {
    if (!service.log().includes('HPE_')) throw new Error('not in the log')
  })
  t.false(service.log().includes(secret))
})

test.serial('1,500 listeners of one address can reconnect at once', async (t) => {
  const { id, listener_token: token } = await (await service.user('lecturer')).createLive()
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
  const handshake =
    `GET /ws/live/${id}?token=${token} HTTP/1.1\r\nHost: localhost\r\n${upgrade}` +
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
  const listeners: Array<RawConnection> = []
  // The service closes silent connections above MAX_SILENT, and a busy test process sends its handshakes late. So the
  // test opens only half as many at a time.
  while (listeners.length < 1500) {
    const batch = await openMany(t, MAX_SILENT / 2, DIRECT)
    for (const connection of batch) connection.write(handshake)
    listeners.push(...batch)
  }
  await eventually(() => {
    if (listeners.some(({ statuses }) => statuses().length === 0)) throw new Error('some have no answer yet')
  }, { timeoutMs: 60_000 })
  t.deepEqual(new Set(listeners.flatMap(({ statuses }) => statuses())), new Set([101]))
})
