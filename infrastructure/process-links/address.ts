import type { NetworkInterfaceInfo } from 'node:os'

/** A host and a port. An IPv6 address has no brackets here. */
export interface HostAndPort {
  readonly host: string
  readonly port: number
}

/** The result of `os.networkInterfaces`. */
export type Interfaces = NodeJS.Dict<ReadonlyArray<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>>>

/** Parses `host:port`; null if the text has another form. */
export const parseAddress = (text: string): HostAndPort | null => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]/]+)\]|([^:/\s[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const [host, port] = [bracketed ?? plain, Number(digits)]
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port }
}

const formatAddress = ({ host, port }: HostAndPort): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`

const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::', ''])

/** Returns the first IPv4 address under which other machines reach this one, or the loopback address. */
const ownHost = (interfaces: Interfaces): string => {
  const addresses = Object.values(interfaces).flatMap((all) => all ?? [])
  return addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1'
}

/**
 * Returns the `host:port` that other processes dial: `url` (with or without `https://`) if given, otherwise the bound
 * address. When the port is bound to all addresses, it uses the address of a network interface. Null: `url` is invalid.
 */
export const advertisedAddress = (url: string | null, bound: HostAndPort, interfaces: Interfaces): string | null => {
  if (url !== null) {
    const parsed = parseAddress(url.replace(/^https:\/\//, '').replace(/\/$/, ''))
    return parsed && formatAddress(parsed)
  }
  return formatAddress(UNSPECIFIED.has(bound.host) ? { ...bound, host: ownHost(interfaces) } : bound)
}
