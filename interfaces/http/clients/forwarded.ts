import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** How a request reached the service. Forwarding headers count only from trusted proxies. */
export interface Arrival {
  /** Client address without port and zone. '' when it is unknown, or the connection is closed. */
  readonly address: string
  /** True when the client used TLS. */
  readonly encrypted: boolean
  /** Host name with an optional port, as the client sent it. links.ts decides whether links may use it. */
  readonly host: string
  /** Path prefix that a proxy removed, such as `/captions`. '' when there is none. */
  readonly prefix: string
}

/** The parts of `IncomingMessage` that this module reads. */
interface ProxiedRequest {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

const PREFIX = /^(?:\/[A-Za-z0-9._~-]+)+\/?$/

/** Removes brackets, port, zone and the IPv6 form of an IPv4 address. Null when the text is not an address. */
const addressOf = (text: string): string | null => {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1]
  const bare = (bracketed ?? text).replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (bracketed !== undefined) return isIPv6(bare) || isIPv4(bare) ? bare : null
  const withPort = /^([\d.]+):\d{1,5}$/.exec(bare)?.[1] ?? bare
  return isIP(withPort) === 0 ? null : withPort
}

const valuesOf = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  header === undefined || header.length === 0 ? [] : [header].flat().join(',').split(',').map((value) => value.trim())

/** One hop of the header `Forwarded`: its parameters by name. */
type Element = Readonly<Partial<Record<string, string>>>

const PAIR = /^[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~:[\]-]+))[ \t]*([;,]|$)/

/** Parses the header `Forwarded` (RFC 7239), client first. A malformed header gives an empty list. */
const elementsOf = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<Element> => {
  let rest = [header ?? []].flat().join(',')
  const elements: Array<Record<string, string>> = [{}]
  while (rest !== '') {
    const [whole, name, quoted, token, separator] = PAIR.exec(rest) ?? []
    if (whole === undefined || name === undefined) return []
    const element = elements.at(-1) ?? {}
    element[name.toLowerCase()] = quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1')
    if (separator === ',') elements.push({})
    rest = rest.slice(whole.length)
    if (rest === '' && separator !== '') return []
  }
  return elements
}

/** Returns the value of the outermost trusted proxy. Each of the `proxies` may have appended one value to the list. */
const fromOutermost = <A>(values: ReadonlyArray<A>, proxies: number): A | undefined =>
  values[Math.max(0, values.length - proxies)]

const isEncrypted = (scheme: string | undefined): boolean | null => {
  if (scheme === undefined || !/^https?$/i.test(scheme)) return null
  return scheme.toLowerCase() === 'https'
}

const prefixOf = (path: string | undefined): string =>
  path !== undefined && PREFIX.test(path) ? path.replace(/\/$/, '') : ''

const blockListOf = (ranges: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', length] = range.split('/')
    list.addSubnet(network, Number(length), isIPv6(network) ? 'ipv6' : 'ipv4')
  }
  return list
}

/** Returns a check whether an address is in one of these CIDR ranges (TRUSTED_PROXIES). */
export const createTrust = (trusted: ReadonlyArray<string>): ((address: string) => boolean) => {
  const ranges = blockListOf(trusted)
  return (address) => isIP(address) !== 0 && ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** The client of a request, found by following the forwarding headers back from our connection. */
interface TracedClient {
  readonly address: string
  /** Trusted proxies on the way, at least the one that is connected to us. */
  readonly proxies: number
}

/**
 * Returns a function that reads how a request arrived through the proxies in these CIDR ranges (TRUSTED_PROXIES).
 * Forwarding headers count only on connections from a trusted proxy. They are read backwards up to the first untrusted
 * address, because the client itself may have written everything before it. If `X-Forwarded-For` and `Forwarded` name
 * different clients, both are ignored: a proxy sets one of them and passes the other through unchecked. The address is
 * then unknown. With the address of the proxy, any client could use up the limit of the proxy's own health checks.
 */
export const createArrivalReader = (trusted: ReadonlyArray<string>): ((request: ProxiedRequest) => Arrival) => {
  const isTrusted = createTrust(trusted)

  /** Follows `hops` backwards. The first hop is the client, the last hop is next to `peer`. */
  const traceClient = (peer: string, hops: ReadonlyArray<string | undefined>): TracedClient => {
    let address = peer
    let proxies = 0
    for (const hop of hops.toReversed()) {
      const next = isTrusted(address) ? addressOf(hop ?? '') : null
      if (next === null) break
      address = next
      proxies += 1
    }
    return { address, proxies: Math.max(1, proxies) }
  }

  /** `xForwardedFor` and `elements` are the two kinds of headers. Null when they name different clients. */
  const clientOf = (
    peer: string, xForwardedFor: ReadonlyArray<string>, elements: ReadonlyArray<Element>,
  ): TracedClient | null => {
    const hops = elements.map((element) => element['for'])
    if (xForwardedFor.length === 0) return traceClient(peer, hops)
    const client = traceClient(peer, xForwardedFor)
    const isSameClient = hops.every((hop) => hop === undefined) || traceClient(peer, hops).address === client.address
    return isSameClient ? client : null
  }

  return ({ headers, socket }) => {
    const peer = addressOf(socket.remoteAddress ?? '') ?? ''
    const encrypted = 'encrypted' in socket && socket.encrypted === true
    const direct: Arrival = { address: peer, encrypted, host: headers.host ?? '', prefix: '' }
    if (!isTrusted(peer)) return direct
    const elements = elementsOf(headers.forwarded)
    const client = clientOf(peer, valuesOf(headers['x-forwarded-for']), elements)
    if (client === null) return { ...direct, address: '' }
    const forwarded = (name: string): string | undefined =>
      fromOutermost(valuesOf(headers[`x-forwarded-${name}`]), client.proxies)
    const element = fromOutermost(elements, client.proxies)
    return {
      address: client.address,
      encrypted: isEncrypted(forwarded('proto') ?? element?.['proto']) ?? direct.encrypted,
      host: forwarded('host') ?? element?.['host'] ?? direct.host,
      prefix: prefixOf(forwarded('prefix')),
    }
  }
}
