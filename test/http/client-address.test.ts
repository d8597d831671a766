import test from 'ava'
import { clientAddress } from '../../interfaces/http/client-address.ts'

test('S24: an IPv4 address is one client, however it is written', (t) => {
  t.is(clientAddress('192.0.2.1'), '192.0.2.1')
  t.is(clientAddress('::ffff:192.0.2.1'), '192.0.2.1')
})

test('S24: a /64 of IPv6 is one client', (t) => {
  t.is(clientAddress('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64')
  t.is(clientAddress('2001:DB8:1:2:ffff::1'), '2001:db8:1:2::/64')
  t.is(clientAddress('2001:0db8:0001:0002::'), '2001:db8:1:2::/64')
  t.is(clientAddress('2001:db8::1'), '2001:db8:0:0::/64')
  t.is(clientAddress('::1'), '0:0:0:0::/64')
  t.is(clientAddress('fe80::1%eth0'), 'fe80:0:0:0::/64')
  t.not(clientAddress('2001:db8:1:3::1'), clientAddress('2001:db8:1:2::1'))
})

test('a connection that is gone has no address', (t) => {
  t.is(clientAddress(undefined), '')
})
