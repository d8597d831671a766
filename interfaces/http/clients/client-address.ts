import { isIPv6 } from 'node:net'

/** Splits one half of an IPv6 address into its groups. */
const groups = (half: string): ReadonlyArray<string> => (half === '' ? [] : half.split(':'))

/**
 * Returns the address that rate limits count as one client. For IPv6 that is the /64 network, because one client
 * usually controls a whole /64.
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
