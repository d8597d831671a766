import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { SourceError } from '../source-error.ts'

/** Exceptions to the basic rule that sources must have public addresses outside our own networks. */
export interface AddressRules {
  /** Allowed CIDR ranges of AUDIO_URL_ALLOW_CIDRS. */
  readonly allow: ReadonlyArray<string>
  /** The port of this service, which is always forbidden; null: it is not bound yet. */
  readonly ownPort: number | null
}

export interface Address {
  readonly address: string
  readonly family: number
}

export interface AddressGuard {
  /** Whether a connection to this IP address and port is allowed. */
  readonly allows: (address: string, port: number) => boolean
  /** Whether this IP address needs no exception: it is on the public internet, outside our own networks. */
  readonly isPublic: (address: string) => boolean
  /**
   * Returns all addresses of a host. Throws `address_forbidden` when one of them is not allowed, and `unresolved` when
   * there are none.
   */
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

/**
 * IPv4 ranges of IANA's special-purpose registry, multicast, and 168.63.129.16. At that address the platform of Azure
 * answers the machines of Azure. The registry contains the addresses that other large clouds use for this.
 */
const SPECIAL_V4 = listOf('ipv4', [
  '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16', '172.16.0.0/12',
  '192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16',
  '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4',
])
/** Public IPv6 addresses. Excludes ::1, IPv4-mapped addresses, NAT64, fc00::/7, fe80::/10, ff00::/8 and others. */
const GLOBAL_V6 = listOf('ipv6', ['2000::/3'])
/** Exceptions within the public range: protocol assignments with Teredo and ORCHID, documentation, 6to4, AS112. */
const SPECIAL_V6 = listOf('ipv6', ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'])

const isOnInternet = (address: string): boolean =>
  isIPv4(address)
    ? !SPECIAL_V4.check(address, 'ipv4')
    : GLOBAL_V6.check(address, 'ipv6') && !SPECIAL_V6.check(address, 'ipv6')

const withoutBrackets = (host: string): string => host.replace(/^\[|\]$/g, '')

/** Converts an IPv4-mapped address to IPv4: the kernel treats `::ffff:7f00:1` as `127.0.0.1`. */
const withoutMapping = (address: string): string => {
  const normalised = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? ''
  const words = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(normalised)
  if (words === null) return address
  const value = Number.parseInt(words[1] ?? '', 16) * 65_536 + Number.parseInt(words[2] ?? '', 16)
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.')
}

/** Reads the network interfaces of this machine, which may change while the service runs. */
export type Interfaces = () => ReturnType<typeof networkInterfaces>

const ownAddresses = (interfaces: Interfaces) =>
  Object.values(interfaces()).flatMap((addresses) => addresses ?? [])

/**
 * Whether an address belongs to this machine or to a network of one of its interfaces. Such hosts may trust this
 * machine behind the firewall, even if their addresses are public.
 */
const isInOwnNetwork = (interfaces: Interfaces, address: string): boolean => {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const ownOfFamily = ownAddresses(interfaces).filter((own) => own.family.toLowerCase() === family)
  const ranges = ownOfFamily.map(({ address: own, cidr }) => cidr ?? `${own}/${family === 'ipv4' ? 32 : 128}`)
  return listOf(family, ranges).check(address, family)
}

const LOOPBACK = listOf('ipv4', ['127.0.0.0/8', '0.0.0.0/32'])

/** Whether the kernel delivers packets for this address to this machine. */
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

  /** A zone (fe80::1%eth0) names a local interface, so the address is not public. */
  const isPlain = (address: string): boolean => isIP(address) !== 0 && !address.includes('%')

  const isPublic = (address: string): boolean =>
    isPlain(address) && isOnInternet(address) && !isInOwnNetwork(interfaces, address)

  const allows = (address: string, port: number): boolean => {
    if (!isPlain(address)) return false
    if (port === rules.ownPort && isOurs(interfaces, address)) return false
    // Separate lists, so an allowed IPv4 range does not allow IPv6 addresses that embed an IPv4 address of the range.
    const isAllowed = isIPv4(address) ? allowedV4.check(address, 'ipv4') : allowedV6.check(address, 'ipv6')
    return isAllowed || isPublic(address)
  }

  return {
    allows,
    isPublic,
    resolve: async (host, port) => {
      const name = withoutBrackets(host)
      const found = isIP(name) === 0 ? await lookup(name) : [{ address: name, family: isIP(name) }]
      if (found.length === 0) throw new SourceError('unresolved')
      if (!found.every(({ address }) => allows(address, port))) throw new SourceError('address_forbidden')
      return found
    },
  }
}

/** Resolves a host with the system's resolver. */
export const lookUp = (host: string): Promise<ReadonlyArray<Address>> =>
  systemLookup(host, { all: true, order: 'verbatim' })

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80, 'https:': 443, 'rtmp:': 1935, 'rtmps:': 443, 'rtsp:': 554, 'rtsps:': 322,
}

export const portOf = ({ protocol, port }: URL): number =>
  port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)

/**
 * Returns the host of any URL in normal form; null: none. The URL standard normalises hosts only for http, so it leaves
 * `rtsp://0x7f.1` as it is.
 */
export const hostOf = (url: URL): string | null => {
  const host = URL.parse(`http://${url.hostname}/`)?.hostname
  return host === undefined || host === '' ? null : withoutBrackets(host)
}

/** Whether a URL contains a forbidden IP address in any spelling. Host names are checked when they are resolved. */
export const namesForbiddenAddress = (guard: Pick<AddressGuard, 'allows'>, text: string): boolean => {
  const url = URL.parse(text)
  const host = url === null ? null : hostOf(url)
  if (url === null || host === null) return true
  return isIP(host) !== 0 && !guard.allows(host, portOf(url))
}
