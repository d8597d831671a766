import { isIPv6 } from 'node:net'

/** The groups of one half of an IPv6 address. */
const groups = (half: string): ReadonlyArray<string> => (half === '' ? [] : half.split(':'))

/**
 * Who counts as one client where limits are counted by address: an IPv4 address, or the /64 of an IPv6 one, because
 * whoever has one address of a /64 has all of them.
 */
export const clientAddress = (remote: string | undefined): string => {
  const address = (remote ?? '').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '')
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.toLowerCase().split('::')
  const leading = groups(head)
  const missing = tail === undefined ? 0 : 8 - leading.length - groups(tail).length
  const all = [...leading, ...Array.from({ length: missing }, () => '0'), ...groups(tail ?? '')]
  return `${all.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}
