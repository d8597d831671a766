import test from 'ava'
import * as fc from 'fast-check'
import { advertisedAddress, parseAddress, type Interfaces } from '../../../../infrastructure/process-links/address.ts'
import { parsePath, pathOf } from '../../../../infrastructure/process-links/paths.ts'

const loopback = { address: '127.0.0.1', family: 'IPv4', internal: true } as const
const ipv6 = { address: 'fe80::1', family: 'IPv6', internal: false } as const
const ipv4 = { address: '10.0.0.5', family: 'IPv4', internal: false } as const
const HERE: Interfaces = {
  lo: [loopback], none: undefined, eth0: [ipv6, ipv4], eth1: [{ ...ipv4, address: '10.1.0.5' }],
}

test('other processes dial INTERNAL_URL, else the host, else the first address of the machine', (t) => {
  const bound = { host: '0.0.0.0', port: 9000 }
  t.is(advertisedAddress(null, bound, HERE), '10.0.0.5:9000')
  t.is(advertisedAddress(null, { ...bound, host: '::' }, HERE), '10.0.0.5:9000')
  t.is(advertisedAddress(null, bound, { lo: [loopback] }), '127.0.0.1:9000')
  t.is(advertisedAddress(null, bound, {}), '127.0.0.1:9000')
  t.is(advertisedAddress(null, { ...bound, host: '10.9.9.9' }, HERE), '10.9.9.9:9000')
  t.is(advertisedAddress(null, { ...bound, host: '::1' }, HERE), '[::1]:9000')
  t.is(advertisedAddress('worker-1.example:9443', bound, HERE), 'worker-1.example:9443')
  t.is(advertisedAddress('https://worker-1.example:9443/', bound, HERE), 'worker-1.example:9443')
  t.is(advertisedAddress('https://[::1]:9443', bound, HERE), '[::1]:9443')
  for (const bad of ['worker-1.example', 'https://worker-1.example/path:1', 'http://a:1', 'a:0', 'a:70000', ''])
    t.is(advertisedAddress(bad, bound, HERE), null, bad)
})

test('an advertised address can be dialled', (t) => {
  const hosts = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6())
  fc.assert(fc.property(hosts, fc.integer({ min: 1, max: 65_535 }), (host, port) => {
    const address = advertisedAddress(null, { host, port }, {})
    const dialled = address === null ? null : parseAddress(address)
    t.deepEqual(dialled, { host: host === '::' || host === '0.0.0.0' ? '127.0.0.1' : host, port })
  }))
})

test('a path parses back to its request', (t) => {
  const anyPath = fc.record({
    incarnation: fc.string({ minLength: 1, maxLength: 20 }),
    liveId: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    action: fc.constantFrom('link' as const, 'end' as const),
  })
  fc.assert(fc.property(anyPath, (path) => {
    t.deepEqual(parsePath(pathOf(path)), path)
  }))
})
