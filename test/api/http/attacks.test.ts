import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import test from 'ava'
import fc from 'fast-check'
import { SERVER_LIMITS } from '../../../interfaces/http/connections/server.ts'
import { consoleFiles } from '../../../interfaces/http/console/console-files.ts'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { startHttp } from './http-service.ts'

const { build: BUILD } = await consoleFiles()

/** Sends the bytes and returns everything that the server answers until it closes the connection. */
const exchange = async (url: string, bytes: string | Buffer): Promise<string> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  let answer = ''
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
  socket.write(bytes)
  socket.end()
  await once(socket, 'close')
  return answer
}

test('a request with an ambiguous length is refused, and the bytes after it are not parsed as a request', async (t) => {
  const http = await startHttp(t)
  const head = 'POST /lives HTTP/1.1\r\nHost: localhost\r\n'
  const hidden = 'GET /users HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer admin\r\n\r\n'
  const smuggling = [
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello${hidden}`,
    `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `${head}Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n${hidden}`,
    `${head}Content-Length: -1\r\n\r\n${hidden}`,
    `${head}Content-Length: +5\r\n\r\nhello${hidden}`,
    `${head} X: folded\r\nContent-Length: 0\r\n\r\n${hidden}`,
    `GET /version HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n${hidden}`,
    `GET /version HTTP/9.9\r\nHost: localhost\r\n\r\n${hidden}`,
    `GET /version HTTP/1.1\r\n\r\n${hidden}`,
  ]
  for (const bytes of smuggling) {
    const answer = await exchange(http.url, bytes)
    t.regex(answer, /^HTTP\/1\.1 400 /, bytes.slice(head.length, head.length + 40))
    t.is(answer.match(/HTTP\/1\.1 \d/g)?.length, 1)
    t.false(answer.includes('"root"'), 'the hidden request for the list of users was not answered')
  }
  t.is((await http.send('GET', '/version')).status, 200)
})

test('the server allows 15 s for the headers and 30 s for a whole request', (t) => {
  const server = createServer(SERVER_LIMITS)
  t.deepEqual([server.headersTimeout, server.requestTimeout, SERVER_LIMITS.maxHeaderSize], [15_000, 30_000, 16_384])
  t.true(SERVER_LIMITS.connectionsCheckingInterval <= 5000)
})

test('every route sends a content security policy, and only the embed page may be framed', async (t) => {
  const http = await startHttp(t)
  for (const { method, path, response } of ROUTES) {
    const { headers } = await http.send(
      method,
      path.replace(':id', '7').replace(/^\{\/:below\}.*$/, `/console/${BUILD}/console/main.ts`),
      { as: 'admin' },
    )
    const policy = headers.get('content-security-policy') ?? ''
    if (response.isFramable === true) t.is(headers.get('x-frame-options'), null, path)
    else t.is(headers.get('x-frame-options'), 'DENY', path)
    if (response.headers?.['Content-Security-Policy'] === undefined && response.isFramable !== true)
      t.is(policy, "default-src 'none'; frame-ancestors 'none'", path)
    else
      for (const part of ["default-src 'none'", "base-uri 'none'", 'frame-ancestors '])
        t.true(policy.includes(part), `${path}: ${part}`)
    t.notRegex(policy, /unsafe|script-src[^;]*(?:data:|\*)/, path)
    t.is(headers.get('x-content-type-options'), 'nosniff', path)
    t.is(headers.get('referrer-policy'), 'no-referrer', path)
    t.is(headers.get('x-powered-by'), null)
    t.is(headers.get('set-cookie'), null, 'no cookie is ever set')
  }
})

const poisonous = fc.constantFrom('__proto__', 'constructor', 'prototype')
const nested = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(1, 'x', true, null, 'admin'),
    fc
      .array(fc.tuple(fc.oneof(poisonous, fc.constantFrom('model', 'config', 'polluted', 'vad')), tie('value')), {
        maxLength: 4,
      })
      .map(
        // JSON.stringify omits a member named __proto__, so textOf writes these objects.
        (entries) => ({ toJSON: () => undefined, text: entries }),
      ),
  ),
})).value

const memberText = ([name, inner]: readonly [string, unknown]): string => `${JSON.stringify(name)}:${textOf(inner)}`

/** Returns the JSON of a value whose members may be named `__proto__`. */
const textOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'text' in value
    ? `{${(value.text as ReadonlyArray<readonly [string, unknown]>).map(memberText).join(',')}}`
    : JSON.stringify(value)

test('no request body changes a prototype or causes a 5xx', async (t) => {
  const http = await startHttp(t)
  const before = Object.getOwnPropertyNames(Object.prototype)
  await fc.assert(
    fc.asyncProperty(
      nested,
      fc.constantFrom('/lives', '/users', '/tokens', '/user-live-configs'),
      async (value, path) => {
        const { status } = await http.send('POST', path, { as: 'admin', body: textOf(value) })
        return status === 200 || status === 422
      },
    ),
    { numRuns: 40 },
  )
  t.deepEqual(Object.getOwnPropertyNames(Object.prototype), before)
  t.is(({} as Record<string, unknown>)['polluted'], undefined)
})

/** Texts that URL parsers read in different ways. */
const PARTS = [
  '/', '//', '\\', '@', ':', '[', ']', '::1', '#', '?', '%', '%00', '%2f', '%ff', '..', ';', '*', 'a', ':99999',
  'http://', 'http:', 'javascript:', '\u00a0', '\u00fe', '\ufeff', '<', '{', '^', '|', 'version', 'metrics', 'lives',
]

test('no request target gets a 5xx status or a refusal without a standard body', async (t) => {
  const { url, log } = await startHttp(t)
  const known = [
    '//a@[#x', '//a@[::1#x?y', '/\\a@[#', '//a@b@[c#', '//a@b:99999#y', '//a@b/metrics?#', '//a@b/version#x',
    '//a@[', 'http://a/%', '/%', '*',
  ]
  const answerTo = async (target: string): Promise<void> => {
    const request = Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, 'latin1')
    const [head = '', body = ''] = (await exchange(url, request)).split(/\r\n\r\n([^]*)/, 2)
    const status = Number(head.split(' ')[1])
    assert.ok(status >= 200 && status < 500, head)
    assert.equal(target.includes('#') && status !== 400, false, head)
    if (status < 400) return
    assert.match(head, /^x-request-id: \S/im)
    assert.ok('detail' in JSON.parse(body))
  }
  const target = fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''))
  const paths = target.map((rest) => `/${rest}`)
  const property = fc.asyncProperty(fc.oneof(target, paths), answerTo)
  await fc.assert(property, { numRuns: 300, examples: known.map((example) => [example]) })
  t.deepEqual(log.lines.filter(({ level }) => level === 'error'), [])
})
