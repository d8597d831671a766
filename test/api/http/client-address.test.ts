import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { clientAddress } from '../../../interfaces/http/clients/client-address.ts'
import { createArrivalReader } from '../../../interfaces/http/clients/forwarded.ts'
import { liveView } from './example-views.ts'
import { HTTP_SETTINGS, startHttp } from './http-service.ts'

test('both notations of an IPv4 address count as one client', (t) => {
  t.is(clientAddress('192.0.2.1'), '192.0.2.1')
  t.is(clientAddress('::ffff:192.0.2.1'), '192.0.2.1')
})

test('all IPv6 addresses of a /64 count as one client', (t) => {
  t.is(clientAddress('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  t.is(clientAddress('2001:DB8:1:2:ffff::1'), '2001:db8:1:2::/64')
  t.is(clientAddress('2001:0db8:0001:0002::'), '2001:db8:1:2::/64')
  t.is(clientAddress('2001:db8::1'), '2001:db8:0:0::/64')
  t.is(clientAddress('::1'), '0:0:0:0::/64')
  t.is(clientAddress('fe80::1%eth0'), 'fe80:0:0:0::/64')
  t.not(clientAddress('2001:db8:1:3::1'), clientAddress('2001:db8:1:2::1'))
})

test('a closed connection has no client address', (t) => {
  t.is(clientAddress(undefined), '')
})

const PROXIES = ['127.0.0.1/32', '10.0.0.0/8', 'fd00::/8']
const DIRECT = { address: '127.0.0.1', encrypted: false, host: 'inner:8080', prefix: '' }

const arrive = (
  headers: Readonly<Record<string, string>>,
  from = '127.0.0.1',
  trusted: ReadonlyArray<string> = PROXIES,
) => createArrivalReader(trusted)({ headers: { host: 'inner:8080', ...headers }, socket: { remoteAddress: from } })

const FORWARDING_HEADERS = {
  'x-forwarded-for': '192.0.2.9',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'captions.example',
  'x-forwarded-prefix': '/steno/',
}

test('forwarding headers are trusted only on a connection from a trusted proxy', (t) => {
  const forwarded = { address: '192.0.2.9', encrypted: true, host: 'captions.example', prefix: '/steno' }
  t.deepEqual(arrive(FORWARDING_HEADERS), forwarded)
  t.deepEqual(arrive(FORWARDING_HEADERS, '::ffff:127.0.0.1'), forwarded)
  t.deepEqual(arrive(FORWARDING_HEADERS, 'fd00::5'), forwarded)
  for (const from of ['192.0.2.1', '11.0.0.1', '::1', '127.0.0.2', 'fe80::1%eth0']) {
    const { address, ...rest } = arrive(FORWARDING_HEADERS, from)
    t.deepEqual([address, rest], [from.replace(/%.*/, ''), { encrypted: false, host: 'inner:8080', prefix: '' }])
  }
  t.deepEqual(arrive(FORWARDING_HEADERS, '127.0.0.1', []), DIRECT)
  t.deepEqual(createArrivalReader(PROXIES)({ headers: FORWARDING_HEADERS, socket: {} }), {
    address: '',
    encrypted: false,
    host: '',
    prefix: '',
  })
  t.true(
    createArrivalReader([])({
      headers: {},
      socket: { remoteAddress: '192.0.2.1', encrypted: true } as { remoteAddress: string },
    }).encrypted,
  )
})

/** Name of the case, headers, and the expected client address. */
const ADDRESSES: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, string]> = [
  ['the client behind one proxy', { 'x-forwarded-for': '192.0.2.9' }, '192.0.2.9'],
  ['the client’s own header value further left', { 'x-forwarded-for': '198.51.100.1, 192.0.2.9' }, '192.0.2.9'],
  ['a chain of trusted proxies', { 'x-forwarded-for': '198.51.100.1, 192.0.2.9, 10.1.2.3,fd00::7' }, '192.0.2.9'],
  ['a chain that ends in trusted addresses', { 'x-forwarded-for': '10.9.9.9, 10.1.2.3' }, '10.9.9.9'],
  ['a value that is not an address ends the chain', { 'x-forwarded-for': '192.0.2.9, unknown' }, '127.0.0.1'],
  ['an invalid address after a second proxy', { 'x-forwarded-for': 'oops, 10.1.2.3' }, '10.1.2.3'],
  ['a port', { 'x-forwarded-for': '192.0.2.9:4711' }, '192.0.2.9'],
  ['IPv6 with brackets and port', { 'x-forwarded-for': '[2001:db8::9]:4711' }, '2001:db8::9'],
  ['IPv6 without port', { 'x-forwarded-for': '2001:db8::9' }, '2001:db8::9'],
  ['IPv4 in IPv6', { 'x-forwarded-for': '::ffff:192.0.2.9' }, '192.0.2.9'],
  ['an empty header', { 'x-forwarded-for': '' }, '127.0.0.1'],
  ['Forwarded', { forwarded: 'for=192.0.2.9;proto=https' }, '192.0.2.9'],
  ['Forwarded, quoted IPv6 with port, any case', { forwarded: 'Proto=https;FOR="[2001:db8::9]:4711"' }, '2001:db8::9'],
  ['Forwarded through a chain', { forwarded: 'for=198.51.100.1, for=192.0.2.9, for=10.1.2.3' }, '192.0.2.9'],
  ['Forwarded, hidden', { forwarded: 'for=_hidden' }, '127.0.0.1'],
  ['Forwarded, malformed', { forwarded: 'for=192.0.2.9;' }, '127.0.0.1'],
  ['Forwarded, an open quote', { forwarded: 'for="192.0.2.9' }, '127.0.0.1'],
  ['both headers, equal', { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.9' }, '192.0.2.9'],
  [
    'both headers, different: both are ignored, and the address is unknown',
    { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=198.51.100.1' },
    '',
  ],
  ['both headers, one without a client', { 'x-forwarded-for': '192.0.2.9', forwarded: 'proto=https' }, '192.0.2.9'],
]

test('behind trusted proxies the client is the rightmost address that is not a trusted proxy', (t) => {
  for (const [name, headers, address] of ADDRESSES) t.is(arrive(headers).address, address, name)
})

/** Name of the case, headers, and the expected facts. */
const FACTS: ReadonlyArray<readonly [string, Readonly<Record<string, string>>, Readonly<Record<string, unknown>>]> = [
  ['only a scheme', { 'x-forwarded-proto': 'HTTPS' }, { encrypted: true }],
  ['an unknown scheme', { 'x-forwarded-proto': 'gopher' }, { encrypted: false }],
  ['plain http', { 'x-forwarded-for': '192.0.2.9', 'x-forwarded-proto': 'http' }, { encrypted: false }],
  [
    'the first of two values is the client’s own',
    { 'x-forwarded-for': '192.0.2.9', 'x-forwarded-host': 'evil.example, captions.example' },
    { host: 'captions.example' },
  ],
  [
    'two proxies, one value',
    { 'x-forwarded-for': '192.0.2.9, 10.1.2.3', 'x-forwarded-proto': 'https' },
    { encrypted: true },
  ],
  [
    'two proxies, two values',
    { 'x-forwarded-for': '192.0.2.9, 10.1.2.3', 'x-forwarded-proto': 'http, https, http' },
    { encrypted: true },
  ],
  [
    'Forwarded',
    { forwarded: 'for=192.0.2.9;host="captions.example:8443";proto=https' },
    { encrypted: true, host: 'captions.example:8443' },
  ],
  [
    'the outermost element',
    { forwarded: 'for=198.51.100.1;host=evil.example,for=192.0.2.9;host=captions.example,for=10.1.2.3;host=inner' },
    { host: 'captions.example' },
  ],
  ['an invalid prefix', { 'x-forwarded-prefix': '//evil.example' }, { prefix: '' }],
  ['a prefix with markup', { 'x-forwarded-prefix': '/"><script>' }, { prefix: '' }],
  ['a deep prefix', { 'x-forwarded-prefix': '/a/b' }, { prefix: '/a/b' }],
]

test('scheme, host and prefix come from the outermost trusted proxy', (t) => {
  for (const [name, headers, facts] of FACTS) t.like(arrive(headers), facts, name)
})

test('behind a trusted proxy an answer links to the public address', async (t) => {
  const addresses: Array<string> = []
  const logIn = async (_username: string, _password: string, address: string) => {
    addresses.push(address)
    return E.right('a.jwt.token')
  }
  const display = { background_color: null, color_text: 'fff', size_text: null }
  const listLives = async () => E.right({ items: [liveView(7, { display })], total: 1 })
  const http = await startHttp(
    t,
    { logIn, listLives },
    { settings: { ...HTTP_SETTINGS, allowedHosts: ['captions.example'], trustedProxies: ['127.0.0.0/8'] } },
  )
  const linksFor = async (headers: Record<string, string>) => {
    const response = await http.send('GET', '/lives', { as: 'user', headers })
    const { data } = (await response.json()) as {
      readonly data: ReadonlyArray<{ readonly base_url: string; readonly iframe_html: string }>
    }
    return [
      data[0]?.base_url,
      / src="([^?]*)/.exec(data[0]?.iframe_html ?? '')?.[1],
      /<([^?]*)/.exec(response.headers.get('link') ?? '')?.[1],
    ]
  }
  t.deepEqual(await linksFor(FORWARDING_HEADERS), [
    'wss://captions.example/steno',
    'https://captions.example/steno/embed/live/7',
    'https://captions.example/steno/lives',
  ])
  t.deepEqual(
    await linksFor({ ...FORWARDING_HEADERS, 'x-forwarded-host': 'evil.example' }),
    ['', '/steno/embed/live/7', '/steno/lives'],
    'ALLOWED_HOSTS still applies',
  )
  const body = new URLSearchParams({ username: 'ann', password: 'right password' })
  for (const headers of [FORWARDING_HEADERS, {}]) await http.send('POST', '/login', { body, headers })
  t.deepEqual(addresses, ['192.0.2.9', '127.0.0.1'], 'logins are counted by the client’s address')
})
