import type { RequestListener } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import { createHttpServer } from '../../../interfaces/http/connections/server.ts'
import { WAITING_LIMITS, type WaitingLimits } from '../../../interfaces/http/connections/waiting-connections.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { openRaw, type RawConnection } from '../../support/tools/raw-connection.ts'
import { listen } from '../../support/tools/listen.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { startHttp } from './http-service.ts'

const WAITING = { ...WAITING_LIMITS, maxSending: 3, maxReading: 2, checkEveryMs: 20 }
const COMPLETE = 'GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n'
const UNFINISHED_HEAD = 'POST /login HTTP/1.1\r\nHost: localhost\r\nX-Half'
const UNFINISHED_BODY =
  'POST /login HTTP/1.1\r\nHost: localhost\r\n' +
  'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nusername='

const isOpen = ({ socket }: RawConnection): boolean => !socket.closed && !socket.readableEnded
const openStates = (connections: ReadonlyArray<RawConnection>): ReadonlyArray<boolean> => connections.map(isOpen)

/** Waits until as many connections are open as in `expected`, then compares which ones. */
const assertOpen = async (
  t: ExecutionContext,
  connections: ReadonlyArray<RawConnection>,
  expected: ReadonlyArray<boolean>,
): Promise<void> => {
  await eventually(() => {
    if (openStates(connections).filter(Boolean).length > expected.filter(Boolean).length)
      throw new Error(`open: ${openStates(connections).join()}`)
  }).catch(() => undefined)
  t.deepEqual(openStates(connections), expected)
}

/** Starts a server with empty answers that keeps idle connections open, however slow the machine is. */
const startBare = async (t: ExecutionContext, waiting: WaitingLimits): Promise<string> => {
  const answer: RequestListener = (_request, response) => void response.end()
  const server = createHttpServer(answer, { logger: createRecordingLogger(), trustedProxies: [], waiting })
  server.keepAliveTimeout = 600_000
  server.on('upgrade', (_request, socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  return listen(t, server)
}

/** Opens connections one after another: each sends `first`, waits for its answer and sends `then`. */
const openSeveral = async (
  t: ExecutionContext,
  url: string,
  count: number,
  first: string,
  then = '',
): Promise<ReadonlyArray<RawConnection>> => {
  const connections: Array<RawConnection> = []
  for (let n = 0; n < count; n += 1) {
    const connection = await openRaw(t, url)
    connections.push(connection)
    if (first !== '') {
      connection.write(first)
      await connection.answered(1)
    }
    if (then !== '') connection.write(then)
  }
  return connections
}

test('if too many connections are silent, the oldest are closed, so other clients still connect', async (t) => {
  const { url, send } = await startHttp(t, {}, { waiting: WAITING })
  const silent = await openSeveral(t, url, 5, '')
  await assertOpen(t, silent, [false, false, true, true, true])
  t.regex(silent[0]?.answers() ?? '', /^HTTP\/1\.1 429 [^]*"detail":"Too many requests"/)
  const [served] = await openSeveral(t, url, 1, COMPLETE)
  t.deepEqual(served?.statuses(), [200])
  t.is((await send('GET', '/health/ready')).status, 200, 'a request from the same address is answered')
})

for (const [part, request] of [['head', UNFINISHED_HEAD], ['body', UNFINISHED_BODY]] as const)
  test(`a request with an unfinished ${part} counts as waiting, also after complete requests`, async (t) => {
    const { url, send } = await startHttp(t, {}, { waiting: WAITING })
    const unfinished = await openSeveral(t, url, 6, COMPLETE, request)
    await eventually(() => {
      if (openStates(unfinished).filter(Boolean).length > 3) throw new Error(`open: ${openStates(unfinished).join()}`)
    })
    t.is((await send('GET', '/health/ready')).status, 200)
    const cut = unfinished.find((connection) => !isOpen(connection))
    t.deepEqual(cut?.statuses(), [200, 429])
  })

test('idle connections between two requests do not count as waiting', async (t) => {
  const url = await startBare(t, WAITING)
  const idle = await openSeveral(t, url, 6, COMPLETE)
  const busy = await openSeveral(t, url, 4, '')
  await assertOpen(t, busy, [false, true, true, true])
  t.true(openStates(idle).every(Boolean))
  for (const connection of idle) connection.write(COMPLETE)
  for (const connection of idle) await connection.answered(2)
  t.deepEqual(idle.flatMap(({ statuses }) => statuses()), Array.from({ length: 12 }, () => 200))
})

test('behind a trusted proxy the limit applies to each client, not to the proxy', async (t) => {
  const { url } = await startHttp(t, {}, { waiting: WAITING, trustedProxies: ['127.0.0.1/32'] })
  const from = (client: string, request: string): string =>
    request.replace('\r\n\r\n', `\r\nX-Forwarded-For: ${client}\r\n\r\n`)
  const ready = await openSeveral(t, url, 5, '')
  const others = await openSeveral(t, url, 2, '', from('203.0.113.7', UNFINISHED_BODY))
  const unfinished = await openSeveral(t, url, 5, '', from('203.0.113.9', UNFINISHED_BODY))
  await eventually(() => {
    if (openStates(unfinished).filter(Boolean).length > 3) throw new Error('all are open')
  })
  t.is(openStates(unfinished).filter(Boolean).length, 3)
  t.true([...ready, ...others].every(isOpen))
  const [retry] = await openSeveral(t, url, 1, from('203.0.113.9', COMPLETE))
  t.deepEqual(retry?.statuses(), [200], 'a complete request of the same client is answered')
})

test('connections that became WebSockets do not count as waiting', async (t) => {
  const url = await startBare(t, WAITING)
  const sockets = await openSeveral(
    t,
    url,
    5,
    'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
  const silent = await openSeveral(t, url, 4, '')
  await assertOpen(t, silent, [false, true, true, true])
  t.true(sockets.every(isOpen))
})

test('an address over its connection limit loses its idle connections, not those in use', async (t) => {
  const url = await startBare(t, { ...WAITING, maxOpen: 3 })
  const connections = await openSeveral(t, url, 5, COMPLETE)
  await assertOpen(t, connections, [false, false, true, true, true])
  t.deepEqual(connections.flatMap(({ statuses }) => statuses()), [200, 200, 200, 200, 200])
})

test('each of many simultaneous new connections gets time to send its request', async (t) => {
  const url = await startBare(t, { ...WAITING, checkEveryMs: 600_000 })
  const storm = await openSeveral(t, url, 30, '')
  const [other] = await openSeveral(t, url, 1, COMPLETE)
  t.deepEqual(other?.statuses(), [200])
  for (const connection of storm) connection.write(COMPLETE)
  for (const connection of storm) await connection.answered(1)
  t.deepEqual(new Set(storm.flatMap(({ statuses }) => statuses())), new Set([200]))
})

test('an address over its connection limit without idle connections loses a silent one', async (t) => {
  const url = await startBare(t, { ...WAITING, maxOpen: 3, checkEveryMs: 600_000 })
  const silent = await openSeveral(t, url, 3, '')
  const [served] = await openSeveral(t, url, 1, COMPLETE)
  t.deepEqual(served?.statuses(), [200])
  await assertOpen(t, silent, [false, true, true])
  t.regex(silent[0]?.answers() ?? '', /^HTTP\/1\.1 429 /, 'it gets an answer, because its request may be in transit')
  const [next] = await openSeveral(t, url, 1, COMPLETE)
  t.deepEqual(next?.statuses(), [200])
  await assertOpen(t, [...silent, ...(served === undefined ? [] : [served])], [false, true, true, false])
})

test('a connection with too many pipelined requests is closed after the accepted ones are answered', async (t) => {
  const { url } = await startHttp(t)
  const eager = await openRaw(t, url)
  eager.write(COMPLETE.repeat(40))
  await eager.closed()
  const statuses = eager.statuses()
  t.is(statuses.at(-1), 429)
  t.deepEqual(new Set(statuses.slice(0, -1)), new Set([200]))
  t.is(statuses.length, 17)
})
