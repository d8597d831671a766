import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SourceError } from '../source-error.ts'

/** What may be contacted beside public addresses outside our own networks, and what never. */
export interface AddressRules {
  /** CIDR ranges of AUDIO_URL_ALLOW_CIDRS. */
  readonly allow: ReadonlyArray<string>
  /** The port of this service, which no source may be, whatever is allowed; null while it is not bound. */
  readonly ownPort: number | null
}

export interface Address {
  readonly address: string
  readonly family: number
}

export interface AddressGuard {
  /** May this address, as a resolver or a URL parser spells it, be contacted on this port? */
  readonly allows: (address: string, port: number) => boolean
  /** Every address of the host, each of them allowed; throws `address_forbidden` when any is not (S2), `unresolved` when there is none. */
  readonly resolve: (host: string, port: number) => Promise<ReadonlyArray<Address>>
}

const listOf = (family: 'ipv4' | 'ipv6', ranges: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}

/** IPv4 of IANA's special-purpose registry and multicast: all that is not one host of the public internet. */
const SPECIAL_V4 = listOf('ipv4', [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24',
  '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
])
/** Public IPv6 hosts live in here; everything outside (::1, v4-mapped, NAT64, fc00::/7, fe80::/10, ff00::/8 …) is refused. */
const GLOBAL_V6 = listOf('ipv6', ['2000::/3'])
/** Protocol assignments with Teredo and ORCHID, documentation, 6to4. */
const SPECIAL_V6 = listOf('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

const isPublic = (address: string): boolean =>
  isIPv4(address)
    ? !SPECIAL_V4.check(address, 'ipv4')
    : GLOBAL_V6.check(address, 'ipv6') && !SPECIAL_V6.check(address, 'ipv6')

/** The host of a URL whose scheme the URL standard knows: brackets gone, any spelling of an IPv4 address as dotted decimals. */
const bare = (host: string): string => host.replace(/^\[|\]$/g, '')

/** `::ffff:7f00:1` is `127.0.0.1` to the kernel. */
const withoutMapping = (address: string): string => {
  const words = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? '')
  if (words === null) return address
  const value = Number.parseInt(words[1] ?? '', 16) * 65_536 + Number.parseInt(words[2] ?? '', 16)
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

/** The interfaces of this machine; they come and go while the service runs. */
export type Interfaces = () => ReturnType<typeof networkInterfaces>

const ownAddresses = (interfaces: Interfaces) => Object.values(interfaces()).flatMap((addresses) => addresses ?? [])

/**
 * Is it an address of this machine, or of a network that an interface of ours is in? Such a neighbour is no part of the
 * public internet, however public its address: behind the firewall it trusts us.
 */
const isNear = (interfaces: Interfaces, address: string): boolean => {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const near = ownAddresses(interfaces).filter((own) => own.family.toLowerCase() === family)
  const ranges = near.map(({ address: own, cidr }) => cidr ?? `${own}/${family === 'ipv4' ? 32 : 128}`)
  return listOf(family, ranges).check(address, family)
}

const LOOPBACK = listOf('ipv4', ['127.0.0.0/8', '0.0.0.0/32'])

/** Does the kernel deliver this address to this machine? */
const isOurs = (interfaces: Interfaces, address: string): boolean => {
  const plain = withoutMapping(address)
  if (isIPv4(plain) ? LOOPBACK.check(plain, 'ipv4') : plain === '::1' || plain === '::') return true
  return ownAddresses(interfaces).some((own) => own.address === plain)
}

export const createAddressGuard = (
  rules: AddressRules,
  lookup: (host: string) => Promise<ReadonlyArray<Address>> = lookUp,
  interfaces: Interfaces = networkInterfaces,
): AddressGuard => {
  const allowedV4 = listOf('ipv4', rules.allow.filter((range) => isIPv4(range.split('/')[0] ?? '')))
  const allowedV6 = listOf('ipv6', rules.allow.filter((range) => !isIPv4(range.split('/')[0] ?? '')))

  const allows = (address: string, port: number): boolean => {
    // A zone (fe80::1%eth0) names an interface of ours; the public internet has none.
    if (isIP(address) === 0 || address.includes('%')) return false
    if (port === rules.ownPort && isOurs(interfaces, address)) return false
    // Each family by its own list: an IPv4 range opens no IPv6 address that embeds one of its members.
    const isAllowed = isIPv4(address) ? allowedV4.check(address, 'ipv4') : allowedV6.check(address, 'ipv6')
    return isAllowed || (isPublic(address) && !isNear(interfaces, address))
  }

  return {
    allows,
    resolve: async (host, port) => {
      const name = bare(host)
      const found = isIP(name) === 0 ? await lookup(name) : [{ address: name, family: isIP(name) }]
      if (found.length === 0) throw new SourceError('unresolved')
      if (!found.every(({ address }) => allows(address, port))) throw new SourceError('address_forbidden')
      return found
    },
  }
}

/** What the system's resolver answers. */
export const lookUp = (host: string): Promise<ReadonlyArray<Address>> => systemLookup(host, { all: true, order: 'verbatim' })

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'rtmp:': 1935, 'rtmps:': 443, 'rtsp:': 554, 'rtsps:': 322 }

export const portOf = ({ protocol, port }: URL): number => (port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port))

/** The host of any URL in the one spelling that connects: the standard leaves `rtsp://0x7f.1` as it is. Null for none. */
export const hostOf = (url: URL): string | null => {
  const host = URL.parse(`http://${url.hostname}/`)?.hostname
  return host === undefined || host === '' ? null : bare(host)
}

/** S1: names an address, in whatever spelling, that may not be contacted. Names are judged when they are resolved. */
export const namesForbiddenAddress = (guard: Pick<AddressGuard, 'allows'>, text: string): boolean => {
  const url = URL.parse(text)
  const host = url === null ? null : hostOf(url)
  if (url === null || host === null) return true
  return isIP(host) !== 0 && !guard.allows(host, portOf(url))
}
