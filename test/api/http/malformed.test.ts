import { once } from 'node:events'
import { createServer } from 'node:http'
import { inspect } from 'node:util'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createHttpServer } from '../../../interfaces/http/connections/server.ts'
import { NO_WAITING_LIMITS } from '../../../interfaces/http/connections/waiting-connections.ts'
import { listen } from '../../support/tools/listen.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { openRaw } from '../../support/tools/raw-connection.ts'
import { resetConnections } from '../../support/tools/reset-connections.ts'
import { liveView } from './example-views.ts'
import { startHttp } from './http-service.ts'

interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Parses the answers on a connection. Each answer must declare its length. */
const answersIn = (text: string): ReadonlyArray<RawAnswer> => {
  if (text === '') return []
  const [head = '', rest = ''] = text.split(/\r\n\r\n([^]*)/, 2)
  const [status = '', ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]))
  const length = Number(headers.get('content-length'))
  return [
    { status: Number(status.split(' ')[1]), headers, body: JSON.parse(rest.slice(0, length)) as unknown },
    ...answersIn(rest.slice(length)),
  ]
}

const HEAD =
  'POST /lives HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer user\r\n'
const COMPLETE = 'GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n'

const TWO_HOSTS = 'GET /version HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'
const TARGET = 'The request target is not valid'

/** The flaw, the expected status and detail, and the bytes of the request. */
const MALFORMED: ReadonlyArray<readonly [string, number, string, string]> = [
  ['text that is not HTTP', 400, 'The request is not valid HTTP', 'hello\r\n\r\n'],
  [
    'two Content-Length headers',
    400,
    'The request is not valid HTTP',
    `${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
  ],
  ['a broken chunk', 400, 'The request is not valid HTTP', `${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n`],
  ['a missing Host header', 400, 'Host header is missing', 'GET /version HTTP/1.1\r\n\r\n'],
  ['two Host headers', 400, 'The header Host should be sent once', TWO_HOSTS],
  ['an unfinished address as its target', 400, TARGET, 'GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a target without a host', 400, TARGET, 'GET http:// HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a target with another scheme', 400, TARGET, 'GET ftp://a/version HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a target with a fragment', 400, TARGET, 'GET //a@b/metrics?# HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['the method CONNECT', 400, 'This server is not a proxy', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'an unknown Expect header',
    417,
    'The header Expect may only be 100-continue',
    `${HEAD}Expect: miracles\r\nContent-Length: 0\r\n\r\n`,
  ],
  ['huge headers', 431, 'The request headers are too large', `${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`],
  [
    'huge chunk extensions',
    413,
    'Request body too large',
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
  ],
]

for (const [flaw, status, detail, bytes] of MALFORMED)
  test(`${flaw}: answered ${status} with a standard error body, also after earlier answers`, async (t) => {
    const { url, calls } = await startHttp(t)
    const first = await openRaw(t, url)
    first.write(bytes)
    await first.answered(1)
    const reused = await openRaw(t, url)
    reused.write(COMPLETE)
    await reused.answered(1)
    reused.write(bytes)
    await reused.answered(2)
    const pipelined = await openRaw(t, url)
    pipelined.write(COMPLETE + COMPLETE + bytes)
    await pipelined.answered(3)
    for (const [connection, before] of [
      [first, 0],
      [reused, 1],
      [pipelined, 2],
    ] as const) {
      if (status !== 417) await connection.closed()
      const answers = answersIn(connection.answers())
      t.deepEqual(answers.map((answer) => answer.status), [...Array.from({ length: before }, () => 200), status])
      const { headers, body } = answers.at(-1) ?? { headers: new Headers() }
      t.deepEqual(body, { detail })
      t.is(headers.get('content-type'), 'application/json; charset=utf-8')
      t.is(headers.get('cache-control'), 'no-store')
      t.is(headers.get('x-content-type-options'), 'nosniff')
      t.regex(headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      t.truthy(headers.get('x-request-id'))
    }
    t.deepEqual(calls.created, [])
  })

test('a malformed handshake gets the same answers and opens no socket', async (t) => {
  const options = { logger: createRecordingLogger(), trustedProxies: [], waiting: NO_WAITING_LIMITS }
  const server = createHttpServer((_request, response) => response.end(), { ...options, shouldUpgrade: () => true })
  server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  const url = await listen(t, server)
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const answerTo = async (head: string): Promise<string> => {
    const connection = await openRaw(t, url)
    connection.write(head + upgrade)
    return connection.closed()
  }
  const targets = ['http://[::1', 'http://', '//a@[#x', '/ws/live#']
  const refused = [...targets.map((target) => [target, 'Host: a']), ['/', 'Host: a\r\nHost: b']]
  for (const [target, headers] of refused) {
    const [answer] = answersIn(await answerTo(`GET ${target} HTTP/1.1\r\n${headers}\r\n`))
    t.is(answer?.status, 400)
    t.truthy(answer?.headers.get('x-request-id'))
    t.like(answer?.body, { detail: target === '/' ? 'The header Host should be sent once' : TARGET })
  }
  t.regex(await answerTo('GET http://a/ws/live HTTP/1.1\r\nHost: a\r\n'), /^HTTP\/1.1 101/, 'the control opens')
})

test('a request for a whole URL gets the answer of its path', async (t) => {
  const { url } = await startHttp(t)
  for (const [target, status] of [['http://a/version', 200], ['HTTP://a?x', 200], ['http://a/nowhere?x=/', 404]]) {
    const connection = await openRaw(t, url)
    connection.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await connection.answered(1)
    t.deepEqual(connection.statuses(), [status], String(target))
  }
})

test('an upgrade that nobody takes is an ordinary request, and its reset ends nothing', async (t) => {
  const { url } = await startHttp(t)
  const upgrade = 'GET /version HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
  const connection = await openRaw(t, url)
  connection.write(upgrade)
  await connection.answered(1)
  t.deepEqual(connection.statuses(), [200])
  await resetConnections({ to: Number(new URL(url).port), bytes: () => upgrade, count: 200 })
  t.is((await fetch(`${url}/version`)).status, 200)
})

test('bytes after a request that closes its connection are ignored', async (t) => {
  const { url, calls } = await startHttp(t)
  const body = '{"model":"tiny","language":"en"}'
  const create = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`
  for (const last of ['GET /version HTTP/1.1\r\n\r\n', COMPLETE.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')]) {
    const connection = await openRaw(t, url)
    connection.write(last + create)
    await connection.closed()
    t.is(connection.statuses().length, 1)
    t.deepEqual(calls.created, [])
  }
  const continuing = await openRaw(t, url)
  continuing.write(COMPLETE + create)
  await continuing.answered(2)
  t.is(calls.created.length, 1)
})

test('a request that stalls in its headers or body is answered 408 with a body', async (t) => {
  const log = createRecordingLogger()
  const server = createHttpServer((request) => void request.resume(), {
    logger: log,
    trustedProxies: [],
    waiting: NO_WAITING_LIMITS,
  })
  // Node checks these limits only every few seconds.
  server.headersTimeout = 200
  server.requestTimeout = 400
  const url = await listen(t, server)
  for (const bytes of ['GET / HTTP/1.1\r\nX-', `${HEAD}Content-Length: 10\r\n\r\n{`]) {
    const slow = await openRaw(t, url)
    slow.write(bytes)
    const answers = answersIn(await slow.closed())
    t.deepEqual(answers.map(({ status, body }) => [status, body]), [[408, { detail: 'The request took too long' }]])
  }
})

test('an error later in a request does not corrupt an answer that has begun', async (t) => {
  const LONG = 'x'.repeat(2 ** 20)
  const { url } = await startHttp(t, {
    listLives: async () => E.right({ items: [liveView(1, { audioUrl: LONG })], total: 1 }),
  })
  const early = await openRaw(t, url)
  // The service refuses the request before it reads the body, and the next bytes are not HTTP.
  early.write('POST /lives HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
  await early.answered(1)
  early.write('no chunk\r\n')
  t.deepEqual(answersIn(await early.closed()).map(({ status }) => status), [401])
  const list = await openRaw(t, url)
  list.write('GET /lives HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user\r\n\r\nno HTTP\r\n\r\n')
  t.deepEqual(
    answersIn(await list.closed()).map(({ status }) => status),
    [200, 400],
    'the complete list, then the error',
  )
})

test('the content of a malformed request stays out of the log', async (t) => {
  const secret = 'hunter2-and-more'
  // First show that the error of a plain Node server contains the secret.
  const bare = createServer((request) => void request.resume())
  const bareUrl = await listen(t, bare)
  const clientError = once(bare, 'clientError') as Promise<[Error]>
  const bytes =
    `POST /login HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${secret}\r\n` +
    `Transfer-Encoding: chunked\r\n\r\nzz${secret}\r\n`
  const first = await openRaw(t, bareUrl)
  first.write(bytes)
  const [error] = await clientError
  first.socket.destroy()
  t.true('rawPacket' in error && String(error.rawPacket).includes(secret))

  const { url, log } = await startHttp(t)
  const second = await openRaw(t, url)
  second.write(bytes)
  await second.closed()
  const lines = log.lines.filter(({ fields }) => String(fields['code']).startsWith('HPE_'))
  t.true(lines.length > 0, 'the malformed request is logged')
  for (const { level, fields } of log.lines) {
    t.is(level, 'info')
    const shown = inspect(fields, { depth: Infinity, maxArrayLength: Infinity })
    t.notRegex(shown, /hunter2|rawPacket|68 75 6e 74 65 72 32/)
  }
})
