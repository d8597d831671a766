import { once } from 'node:events'
import { request } from 'node:http'
import test from 'ava'
import fc from 'fast-check'
import { loggableUrl } from '../../../interfaces/http/access-log.ts'
import { webSocketBase, type LinkSettings } from '../../../interfaces/http/clients/links.ts'
import { HTTP_SETTINGS, startHttp } from './http-service.ts'

const SETTINGS: LinkSettings = { host: '127.0.0.1', publicUrl: null, basePath: null, allowedHosts: null }

test('a link is built only from an allowed Host', (t) => {
  for (const [host, base] of [
    ['localhost:8080', 'ws://localhost:8080'],
    ['LOCALHOST', 'ws://localhost'],
    ['127.0.0.1:1', 'ws://127.0.0.1:1'],
    ['[::1]:8080', 'ws://[::1]:8080'],
    ['evil.com', ''],
    ['evil.com:x@localhost', ''],
    ['localhost@evil.com', ''],
    ['localhost:8080@evil.com', ''],
    ['localhost:99999', ''],
    ['localhost:', ''],
    ['localhost/x', ''],
    ['localhost, evil.com', ''],
    ['localhost.evil.com', ''],
    ['', ''],
    ['[::1', ''],
    ['localhost\u0000', ''],
  ] as const)
    t.is(webSocketBase(SETTINGS, host, false), base, host)
})

test('any Host header leads to no link or to a link to an allowed host', (t) => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.webAuthority({ withPort: true, withUserInfo: true }), fc.constantFrom('[::1]:80')),
      (host) => {
        const base = webSocketBase(SETTINGS, host, false)
        return base === '' || /^ws:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(base)
      },
    ),
  )
  t.pass()
})

test('PUBLIC_URL overrides Host; BASE_PATH is added once; ALLOWED_HOSTS may contain a port', (t) => {
  const base = (settings: Partial<LinkSettings>, host = 'evil.com', encrypted = false) =>
    webSocketBase({ ...SETTINGS, ...settings }, host, encrypted)
  t.is(base({ publicUrl: 'https://captions.example.org' }), 'wss://captions.example.org')
  t.is(base({ publicUrl: 'http://h:81/steno', basePath: '/steno' }), 'ws://h:81/steno')
  t.is(base({ publicUrl: 'https://h', basePath: '/steno' }), 'wss://h/steno')
  t.is(base({ allowedHosts: ['captions.lan'], basePath: '/b' }, 'captions.lan:81'), 'ws://captions.lan:81/b')
  t.is(base({ allowedHosts: ['captions.lan:80'] }, 'captions.lan:81'), '')
  t.is(base({ allowedHosts: ['captions.lan'] }, 'localhost'), '')
  t.is(base({ host: '10.0.0.5' }, '10.0.0.5:8080', true), 'wss://10.0.0.5:8080')
  t.is(base({ host: '::' }, '[::]:8080'), 'ws://[::]:8080')
})

test('base_url ignores a foreign Host and X-Forwarded-* headers', async (t) => {
  const http = await startHttp(t)
  const baseUrl = async (headers: Record<string, string>): Promise<unknown> => {
    const call = request(`${http.url}/lives/7`, { headers: { authorization: 'Bearer user', ...headers } }).end()
    const [response] = (await once(call, 'response')) as [AsyncIterable<Buffer>]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return (JSON.parse(Buffer.concat(chunks).toString()) as { readonly data: { readonly base_url: unknown } }).data
      .base_url
  }
  t.is(await baseUrl({}), http.url.replace('http', 'ws'))
  t.is(await baseUrl({ host: 'evil.com:x@localhost' }), '')
  t.is(await baseUrl({ 'x-forwarded-host': 'evil.com', 'x-forwarded-proto': 'https' }), http.url.replace('http', 'ws'))
})

test('every answer, including errors, has the security headers', async (t) => {
  const http = await startHttp(t)
  for (const path of ['/version', '/nothing', '/lives', '/metrics', '/languages?limit=0']) {
    const { headers } = await http.send('GET', path)
    t.is(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'", path)
    t.is(headers.get('x-content-type-options'), 'nosniff')
    t.is(headers.get('referrer-policy'), 'no-referrer')
    t.is(headers.get('cache-control'), 'no-store')
    t.is(headers.get('access-control-allow-origin'), '*')
    t.is(headers.get('access-control-allow-credentials'), null)
    t.is(headers.get('access-control-expose-headers'), 'X-Request-ID,Retry-After,Link')
  }
})

const embedPolicy = (ancestors: string): string =>
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' ws: wss:; " +
  `frame-ancestors ${ancestors}; base-uri 'none'; form-action 'self'`

test('only the embed page may be framed: by any site, or by the FRAME_ANCESTORS', async (t) => {
  const http = await startHttp(t)
  const page = await http.send('GET', '/embed/live/7?background_color=000000&color_text=ffff&size_text=28&language=fr')
  t.is(page.status, 200)
  t.is(page.headers.get('content-security-policy'), embedPolicy('* file:'))
  t.is(page.headers.get('x-frame-options'), null)
  t.is((await http.send('GET', '/setup')).headers.get('x-frame-options'), 'DENY')
  const refused = await http.send('GET', '/embed/live/x')
  t.deepEqual([refused.status, refused.headers.get('x-frame-options')], [422, 'DENY'])
  const settings = {
    ...HTTP_SETTINGS,
    frameAncestors: ['https://a.example', 'https://b.example'],
    corsOrigins: ['https://a.example'],
  }
  const limited = await startHttp(t, {}, { settings })
  for (const path of ['/embed/live/7', '/api/v1/embed/live/7/'])
    t.is(
      (await limited.send('GET', path)).headers.get('content-security-policy'),
      embedPolicy('https://a.example https://b.example'),
    )
  // A sandboxed page has the origin null, so its files must allow every origin, whatever CORS_ORIGINS says.
  for (const path of [
    '/embed/live/7',
    '/embed/embed.js',
    '/embed/embed.css',
    '/embed/live/embed.js',
    '/embed/live-socket.js',
    '/embed/ready',
  ]) {
    const { headers } = await limited.send('GET', path, { headers: { origin: 'null' } })
    t.deepEqual(
      [headers.get('cross-origin-resource-policy'), headers.get('access-control-allow-origin')],
      ['cross-origin', '*'],
      path,
    )
  }
})

test('the embed page refuses an invalid colour, size or language', async (t) => {
  const http = await startHttp(t)
  const bad = {
    background_color: ['%23fff', 'ff', 'fffff', 'red', 'red;x:url()', '"><script>', ''],
    color_text: ['javascript:0', 'ffffffg'],
    size_text: ['7', '201', '12px', '1e1', '-8', ''],
    language: ['e', 'engl', 'EN', '../', '"'],
    controls: ['2', 'on', ''],
  }
  for (const [name, values] of Object.entries(bad))
    for (const value of values) {
      const response = await http.send('GET', `/embed/live/7?${name}=${value}`)
      const text = await response.text()
      const { detail } = JSON.parse(text) as { readonly detail: ReadonlyArray<{ readonly loc: unknown }> }
      t.deepEqual([response.status, detail.map(({ loc }) => loc)], [422, [['query', name]]], value)
      if (value.length > 4) t.false(text.includes(value))
    }
})

test('CORS_ORIGINS allows only the listed origins, and a preflight lists the methods', async (t) => {
  const settings = { ...HTTP_SETTINGS, corsOrigins: ['https://a.example'] }
  const http = await startHttp(t, {}, { settings })
  const allowed = async (origin: string) => {
    const { headers } = await http.send('GET', '/version', { headers: { origin } })
    return headers.get('access-control-allow-origin')
  }
  t.is(await allowed('https://a.example'), 'https://a.example')
  t.is(await allowed('https://b.example'), null)
  const preflight = await http.send('OPTIONS', '/lives', {
    headers: {
      origin: 'https://a.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  })
  t.is(preflight.status, 204)
  t.is(preflight.headers.get('access-control-allow-headers'), 'authorization')
  t.true(preflight.headers.get('access-control-allow-methods')?.includes('POST'))
})

test('a valid X-Request-ID is kept, and an invalid one is replaced by a generated id', async (t) => {
  const http = await startHttp(t)
  const idOf = async (sent: string) => {
    const { headers } = await http.send('GET', '/version', { headers: { 'x-request-id': sent } })
    return headers.get('x-request-id')
  }
  for (const id of ['abc', 'A-1._', 'x'.repeat(64)]) t.is(await idOf(id), id)
  t.deepEqual(
    http.log.lines.map(({ fields }) => fields['requestId']),
    ['abc', 'A-1._', 'x'.repeat(64)],
    'the log contains the id',
  )
  for (const id of ['has space', 'x'.repeat(65), 'a"b', 'ä']) t.regex((await idOf(id)) ?? '', /^[0-9a-f-]{36}$/)
})

test('events are correlated by the request id if it is a UUID, else by a generated id in the log', async (t) => {
  const causes: string[] = []
  const http = await startHttp(
    t,
    {},
    {
      inRequest: (correlationId, task) => {
        causes.push(correlationId)
        return task()
      },
    },
  )
  const uuid = '0198f0a4-7c1e-7B3d-9a52-3f6f2d1c0b9e'
  for (const id of [uuid, 'my-id.1']) await http.send('GET', '/version', { headers: { 'x-request-id': id } })
  const [first, second = ''] = causes
  t.is(first, uuid)
  t.regex(second, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.deepEqual(
    http.log.lines.map(({ fields }) => [fields['requestId'], fields['correlationId']]),
    [[uuid, undefined], ['my-id.1', second]],
  )
})

test('no possibly secret query value reaches the log', async (t) => {
  t.is(loggableUrl('/ws/live/', 'token=s3cret&after=4'), '/ws/live/?token=***&after=4')
  t.is(loggableUrl('/ws/live', 'token_sender=a&token_sender=b'), '/ws/live?token_sender=***&token_sender=***')
  t.is(loggableUrl('/lives', ''), '/lives')
  t.is(loggableUrl('/lives', `${'s3cret&'.repeat(30)}skip=1`), `/lives?${'***&'.repeat(20)}…`, 'a long query is cut')
  t.is(
    loggableUrl(`/api/v1/lives/${'s3cret'.repeat(7)}/finish-by-audio_url`, ''),
    '/api/v1/lives/***/finish-by-audio_url',
  )
  const http = await startHttp(t)
  for (const query of [
    'token=s3cret',
    'token_sender=s3cret',
    '%74oken=s3cret',
    'TOKEN=s3cret',
    'access_token=s3cret',
    's3cret',
    's3cret=1',
    'limit=1;token=s3cret',
  ])
    await http.send('GET', `/version?${query}`, {
      headers: { authorization: 'Bearer s3cret', 'x-api-key': 's3cret', cookie: 's3cret', referer: 'http://h/s3cret' },
    })
  await http.send('POST', '/login', { body: new URLSearchParams({ username: 's3cret', password: 's3cret' }) })
  t.is(http.log.lines.length, 9)
  t.false(JSON.stringify(http.log.lines).includes('s3cret'))
})
