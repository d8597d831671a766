import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

/** How a request came to the service, as far as that can be believed. */
export interface Arrival {
  /** Of the client, without port and zone; '' when the connection is gone. */
  readonly address: string
  /** Did the client speak TLS? */
  readonly encrypted: boolean
  /** In the form of the header Host; where links may be built from it is decided elsewhere (D22). */
  readonly host: string
  /** Path that a proxy took off the front, such as `/captions`; '' for none. */
  readonly prefix: string
}

/** What of a request is looked at; fits `IncomingMessage`. */
interface Asked {
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}

const PREFIX = /^(?:\/[A-Za-z0-9._~-]+)+\/?$/

/** The address in what a header or a socket gives: brackets, port, zone and the IPv6 form of IPv4 gone; null for no address. */
const addressOf = (text: string): string | null => {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1]
  const bare = (bracketed ?? text).replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  if (bracketed !== undefined) return isIPv6(bare) || isIPv4(bare) ? bare : null
  const withPort = /^([\d.]+):\d{1,5}$/.exec(bare)?.[1] ?? bare
  return isIP(withPort) === 0 ? null : withPort
}

const valuesOf = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  header === undefined || header.length === 0 ? [] : [header].flat().join(',').split(',').map((value) => value.trim())

type Element = Readonly<Partial<Record<string, string>>>

const PAIR = /^[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~:[\]-]+))[ \t]*([;,]|$)/

/** RFC 7239: the elements of `Forwarded`, the client's first; none when any of it is malformed. */
const elementsOf = (header: string | ReadonlyArray<string> | undefined): ReadonlyArray<Element> => {
  let rest = [header ?? []].flat().join(',')
  const elements: Array<Record<string, string>> = [{}]
  while (rest !== '') {
    const [whole, name, quoted, token, end] = PAIR.exec(rest) ?? []
    if (whole === undefined || name === undefined) return []
    const element = elements.at(-1) ?? {}
    element[name.toLowerCase()] = quoted === undefined ? (token ?? '') : quoted.replace(/\\(.)/g, '$1')
    if (end === ',') elements.push({})
    rest = rest.slice(whole.length)
    if (rest === '' && end !== '') return []
  }
  return elements
}

/** What the outermost trusted proxy wrote, in a list to which `proxies` of them may each have added. */
const fromOutermost = <A>(values: ReadonlyArray<A>, proxies: number): A | undefined => values[Math.max(0, values.length - proxies)]

const isEncrypted = (scheme: string | undefined): boolean | null => {
  if (scheme === undefined || !/^https?$/i.test(scheme)) return null
  return scheme.toLowerCase() === 'https'
}

const prefixOf = (path: string | undefined): string => (path !== undefined && PREFIX.test(path) ? path.replace(/\/$/, '') : '')

const listOf = (ranges: ReadonlyArray<string>): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', length] = range.split('/')
    list.addSubnet(network, Number(length), isIPv6(network) ? 'ipv6' : 'ipv4')
  }
  return list
}

/** Whether an address is in one of these CIDR ranges (TRUSTED_PROXIES). */
export const createTrust = (trusted: ReadonlyArray<string>): ((address: string) => boolean) => {
  const ranges = listOf(trusted)
  return (address) => isIP(address) !== 0 && ranges.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

interface Walk {
  readonly address: string
  /** Trusted proxies whose word was taken, at least the one that we are connected to. */
  readonly proxies: number
}

/**
 * Reads how requests came, behind the proxies of these CIDR ranges (TRUSTED_PROXIES). Headers count only when the
 * connection is from such a proxy, and back to the first address that is none: what stands before it the client itself may
 * have written. `X-Forwarded-For` and `Forwarded` that name different clients cancel each other, because proxies set one
 * of them and pass the other through.
 */
export const createArrivals = (trusted: ReadonlyArray<string>): ((request: Asked) => Arrival) => {
  const isTrusted = createTrust(trusted)

  /** From the connection's end backwards; `named` begins with the client. */
  const walk = (peer: string, named: ReadonlyArray<string | undefined>): Walk => {
    let address = peer
    let taken = 0
    for (const text of named.toReversed()) {
      const next = isTrusted(address) ? addressOf(text ?? '') : null
      if (next === null) break
      address = next
      taken += 1
    }
    return { address, proxies: Math.max(1, taken) }
  }

  /** The client by whichever of the two kinds of list is there; null when both are and do not agree. */
  const clientOf = (peer: string, listed: ReadonlyArray<string>, elements: ReadonlyArray<Element>): Walk | null => {
    const named = elements.map((element) => element['for'])
    if (listed.length === 0) return walk(peer, named)
    const client = walk(peer, listed)
    return named.every((name) => name === undefined) || walk(peer, named).address === client.address ? client : null
  }

  return ({ headers, socket }) => {
    const peer = addressOf(socket.remoteAddress ?? '') ?? ''
    const direct: Arrival = { address: peer, encrypted: 'encrypted' in socket && socket.encrypted === true, host: headers.host ?? '', prefix: '' }
    const elements = elementsOf(headers.forwarded)
    const client = isTrusted(peer) ? clientOf(peer, valuesOf(headers['x-forwarded-for']), elements) : null
    if (client === null) return direct
    const said = (name: string): string | undefined => fromOutermost(valuesOf(headers[`x-forwarded-${name}`]), client.proxies)
    const element = fromOutermost(elements, client.proxies)
    return {
      address: client.address,
      encrypted: isEncrypted(said('proto') ?? element?.['proto']) ?? direct.encrypted,
      host: said('host') ?? element?.['host'] ?? direct.host,
      prefix: prefixOf(said('prefix')),
    }
  }
}
