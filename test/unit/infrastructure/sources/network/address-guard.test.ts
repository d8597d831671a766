import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os'
import test from 'ava'
import {
  createAddressGuard, lookUp, namesForbiddenAddress,
} from '../../../../../infrastructure/sources/network/address-guard.ts'
import { SourceError } from '../../../../../infrastructure/sources/source-error.ts'

/** Addresses in ranges that sources must not reach by default. */
const FORBIDDEN = [
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.0.192',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.255.255',
  '192.175.48.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.7',
  '203.0.113.7',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:0:53aa:64c::1',
  '2001:20::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '2620:4f:8000::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fd12:3456:789a::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1111%eth0',
  'fec0::1',
  'ff02::1',
  '4000::1',
  'not an address',
  '',
]

/** Public addresses, many of them next to a forbidden range. */
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '168.63.129.15',
  '168.63.129.17',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.1',
  '192.167.255.255',
  '192.169.0.0',
  '192.175.47.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
  '2001:4860:4860::8888',
  '2001:200::1',
]

const PUBLIC_ONLY = { allow: [], ownPort: null }

test('only hosts of the public internet may be contacted', (t) => {
  const guard = createAddressGuard(PUBLIC_ONLY)
  t.deepEqual(FORBIDDEN.filter((address) => guard.allows(address, 80)), [])
  t.deepEqual(PUBLIC.filter((address) => !guard.allows(address, 80)), [], 'addresses next to the ranges are allowed')
})

const SPELLINGS_OF_LOOPBACK = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0X7F.0.0.1',
  '017700000001',
  '0177.0.0.01',
  '0x7f.0.0.0x1',
  'ok@127.0.0.1',
  'user:pass@127.1',
  'public.example@127.0.0.1',
  '%31%32%37.0.0.1',
  '１２７.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '0',
  '0.0.0.0',
  '[::]',
]
const WITH_SCHEME = ['http', 'https', 'rtmp', 'rtmps', 'rtsp', 'rtsps'].flatMap((scheme) =>
  // The URL parser refuses some spellings in unknown schemes, so no session uses them.
  SPELLINGS_OF_LOOPBACK.map((host) => `${scheme}://${host}:8001/a`),
)

test('every spelling of a forbidden address in a URL is recognised, in every scheme', (t) => {
  const guard = createAddressGuard(PUBLIC_ONLY)
  t.deepEqual(WITH_SCHEME.filter((url) => !namesForbiddenAddress(guard, url)), [])
  t.true(namesForbiddenAddress(guard, 'no url'))
  for (const url of [
    'http://8.8.8.8/a',
    'https://134744072/',
    'rtsp://0x08080808/x',
    'http://[2606:4700::1111]:8080/',
    'http://radio.example/live',
    'rtmp://localhost/a',
  ])
    t.false(namesForbiddenAddress(guard, url), url)
})

test('AUDIO_URL_ALLOW_CIDRS allows exactly the listed networks', (t) => {
  const guard = createAddressGuard({ allow: ['192.168.1.0/24', 'fd00::/8'], ownPort: null })
  for (const address of ['192.168.1.0', '192.168.1.255', 'fd12::1', '8.8.8.8'])
    t.true(guard.allows(address, 80), address)
  for (const address of [
    '192.168.0.255',
    '192.168.2.0',
    '127.0.0.1',
    '::ffff:192.168.1.1',
    '64:ff9b::c0a8:101',
    'fc00::1',
    '::1',
  ])
    t.false(guard.allows(address, 80), address)
})

test('no address of this service is ever a source, whatever networks are allowed', (t) => {
  const guard = createAddressGuard({ allow: ['0.0.0.0/0', '::/0'], ownPort: 8080 })
  const own = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
  for (const address of [
    ...own.filter((text) => !text.includes('%')),
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
  ]) {
    t.false(guard.allows(address, 8080), address)
    t.true(guard.allows(address, 8081), `${address}: another port is another service`)
  }
  t.true(namesForbiddenAddress(guard, 'http://127.1:8080/'))
  t.true(guard.allows('10.1.2.3', 8080))
})

const OWN = {
  lo: [{ address: '127.0.0.1', netmask: '255.0.0.0', family: 'IPv4', mac: '', internal: true, cidr: '127.0.0.1/8' }],
  eth0: [
    { address: '8.8.4.4', netmask: '255.255.255.0', family: 'IPv4', mac: '', internal: false, cidr: '8.8.4.4/24' },
    {
      address: '2600:1f18::5',
      netmask: 'ffff:ffff:ffff:ffff::',
      family: 'IPv6',
      mac: '',
      internal: false,
      cidr: '2600:1f18::5/64',
      scopeid: 0,
    },
    { address: '9.9.9.9', netmask: '', family: 'IPv4', mac: '', internal: false, cidr: null },
  ],
} as const

test('addresses of this machine and of its networks are not public, on any port', async (t) => {
  let interfaces: Record<string, Array<NetworkInterfaceInfo>> = {}
  const near = [
    '8.8.4.4',
    '8.8.4.0',
    '8.8.4.255',
    '2600:1f18::5',
    '2600:1f18::1:2:3',
    '2600:1f18:0:0:ffff::1',
    '9.9.9.9',
  ]
  const far = ['8.8.3.255', '8.8.5.0', '2600:1f18:0:1::5', '2600:1f17:ffff:ffff::1', '9.9.9.8']
  const guard = createAddressGuard({ allow: [], ownPort: 8080 }, lookUp, () => interfaces)
  t.deepEqual(
    [...near, ...far].filter((address) => !guard.allows(address, 443)),
    [],
    'addresses are allowed before the machine has them',
  )
  interfaces = { lo: [...OWN.lo], eth0: [...OWN.eth0] }
  for (const port of [22, 80, 8080]) t.deepEqual(near.filter((address) => guard.allows(address, port)), [])
  t.deepEqual(far.filter((address) => !guard.allows(address, 443)), [])
  t.true(namesForbiddenAddress(guard, 'rtsp://[2600:1f18::1]/'))
  t.is(
    (await t.throwsAsync(() => guard.resolve('8.8.4.9', 80), { instanceOf: SourceError }))?.code,
    'address_forbidden',
  )
})

test('AUDIO_URL_ALLOW_CIDRS can allow local networks, but never this service', (t) => {
  const interfaces = () => ({ eth0: [...OWN.eth0] })
  const guard = createAddressGuard({ allow: ['8.8.4.0/24', '2600:1f18::5/128'], ownPort: 8080 }, lookUp, interfaces)
  for (const address of ['8.8.4.4', '8.8.4.9', '2600:1f18::5']) t.true(guard.allows(address, 80), address)
  for (const address of ['2600:1f18::6', '9.9.9.9']) t.false(guard.allows(address, 80), address)
  for (const address of ['8.8.4.4', '2600:1f18::5']) t.false(guard.allows(address, 8080), address)
})

test('all addresses of a lookup must be allowed; an IP address is never looked up', async (t) => {
  const resolved: string[] = []
  const answers: Record<string, ReadonlyArray<{ address: string; family: number }>> = {
    'good.example': [{ address: '2606:4700::1111', family: 6 }, { address: '1.1.1.1', family: 4 }],
    'mixed.example': [{ address: '1.1.1.1', family: 4 }, { address: '10.0.0.1', family: 4 }],
    'nothing.example': [],
  }
  const guard = createAddressGuard(PUBLIC_ONLY, async (host) => {
    resolved.push(host)
    return answers[host] ?? []
  })
  t.deepEqual(await guard.resolve('good.example', 80), answers['good.example'] ?? [])
  t.deepEqual(await guard.resolve('[2606:4700::1111]', 80), [{ address: '2606:4700::1111', family: 6 }])
  const codeOf = async (host: string) =>
    (await t.throwsAsync(() => guard.resolve(host, 80), { instanceOf: SourceError }))?.code
  t.is(await codeOf('mixed.example'), 'address_forbidden')
  t.is(await codeOf('nothing.example'), 'unresolved')
  t.is(await codeOf('127.0.0.1'), 'address_forbidden')
  t.is(await codeOf('[::1]'), 'address_forbidden')
  t.deepEqual(resolved, ['good.example', 'mixed.example', 'nothing.example'])
})
