import type { NetworkInterfaceInfo } from 'node:os'

/** A host and its port, as they stand in `host:port`; an IPv6 address without its brackets. */
export interface HostAndPort {
  readonly host: string
  readonly port: number
}

/** What `os.networkInterfaces` answers. */
export type Interfaces = NodeJS.Dict<ReadonlyArray<Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>>>

/** Null: no `host:port`. */
export const parseAddress = (text: string): HostAndPort | null => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]/]+)\]|([^:/\s[\]]+)):(\d{1,5})$/.exec(text) ?? []
  const [host, port] = [bracketed ?? plain, Number(digits)]
  return host === undefined || port < 1 || port > 65_535 ? null : { host, port }
}

const formatAddress = ({ host, port }: HostAndPort): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)

const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::', ''])

/** Where others of the network find this machine: its first IPv4 address, without one itself alone. */
const ownHost = (interfaces: Interfaces): string =>
  Object.values(interfaces).flatMap((all) => all ?? []).find(({ internal, family }) => !internal && family === 'IPv4')?.address ??
  '127.0.0.1'

/**
 * What others dial: what `url` says (`host:port`, with or without `https://`), else where the port was bound; where that
 * is every address of the machine, the one by which others find it. Null: `url` names no address.
 */
export const advertisedAddress = (url: string | null, bound: HostAndPort, interfaces: Interfaces): string | null => {
  if (url !== null) {
    const given = parseAddress(url.replace(/^https:\/\//, '').replace(/\/$/, ''))
    return given && formatAddress(given)
  }
  return formatAddress(ANY.has(bound.host) ? { ...bound, host: ownHost(interfaces) } : bound)
}
