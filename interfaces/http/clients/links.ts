import { isIP } from 'node:net'

/** The settings that decide which addresses appear in links. */
export interface LinkSettings {
  /** The bound address. */
  readonly host: string
  /** PUBLIC_URL: the address of the service for clients. */
  readonly publicUrl: string | null
  /** BASE_PATH, such as `/stenolog`. */
  readonly basePath: string | null
  /**
   * Host names that links may contain, with or without port. Null allows the loopback names and the bound address. If
   * the service is bound to all addresses, null allows every IP address.
   */
  readonly allowedHosts: ReadonlyArray<string> | null
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** A service bound to one of these listens on all addresses of the machine. */
const UNSPECIFIED = new Set(['0.0.0.0', '::'])

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

interface SentHost {
  readonly name: string
  /** Host name with the port, if the client sent one. */
  readonly host: string
}

/** Parses a well-formed header Host, in lower case. Null for anything else, which must not appear in a link. */
const parseHost = (header: string): SentHost | null => {
  const match = /^([a-z0-9](?:[a-z0-9.-]{0,253})|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const name = match?.[1]
  if (name === undefined || Number(match?.[2] ?? 0) > 65535) return null
  return { name, host: header.toLowerCase() }
}

/**
 * Decides whether links may contain this host. A client can send any name, so names must be listed. An IP address is
 * safe if the service listens on all addresses, because the request reached the service at that address.
 */
const isAllowed = ({ allowedHosts, host }: LinkSettings, sent: SentHost): boolean => {
  const allowed = allowedHosts ?? [...LOOPBACK, bracketed(host)]
  if (allowed.some((entry) => [sent.name, sent.host].includes(entry.toLowerCase()))) return true
  return allowedHosts === null && UNSPECIFIED.has(host) && isIP(sent.name.replace(/^\[|\]$/g, '')) !== 0
}

/**
 * Returns the path in front of every route: the prefix that a proxy removed, then BASE_PATH unless the prefix already
 * ends with it.
 */
export const pathBase = ({ basePath }: Pick<LinkSettings, 'basePath'>, prefix: string): string =>
  prefix.endsWith(basePath ?? '') ? prefix : `${prefix}${basePath ?? ''}`

/**
 * Returns the base WebSocket address: from PUBLIC_URL, otherwise from the Host of the request if that is allowed,
 * otherwise ''. `prefix` is the path that a trusted proxy removed.
 */
export const webSocketBase = (settings: LinkSettings, hostHeader: string, encrypted: boolean, prefix = ''): string => {
  const basePath = settings.basePath ?? ''
  if (settings.publicUrl !== null) {
    const base = settings.publicUrl.replace(/^http/, 'ws').replace(/(?<!\/)\/+$/, '')
    return base.endsWith(basePath) ? base : `${base}${basePath}`
  }
  const sent = parseHost(hostHeader)
  if (sent === null || !isAllowed(settings, sent)) return ''
  return `${encrypted ? 'wss' : 'ws'}://${sent.host}${pathBase(settings, prefix)}`
}

/**
 * Returns the one-time link for the first administrator, which the service prints at start. It uses PUBLIC_URL if set,
 * otherwise the bound address. If the service is bound to all addresses, it uses the loopback address.
 */
export const setupLink = (settings: LinkSettings, boundUrl: string, token: string): string => {
  const bound = new URL(boundUrl)
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }
  const host = `${loopback[bound.hostname] ?? bound.hostname}${bound.port === '' ? '' : `:${bound.port}`}`
  const base = webSocketBase({ ...settings, allowedHosts: [host] }, host, bound.protocol === 'https:')
  return `${base.replace(/^ws/, 'http')}/setup#token=${token}`
}

/**
 * Returns the addresses of the REST API, one for each of `prefixes`. If the host is unknown, they are paths. With both
 * PUBLIC_URL and BASE_PATH there is one address, because the proxy may forward only that path.
 */
export const serverAddresses = (
  settings: LinkSettings, webSocketAddress: string, prefixes: ReadonlyArray<string>,
): ReadonlyArray<string> => {
  const base = webSocketAddress.replace(/^ws/, 'http')
  const basePath = settings.basePath ?? ''
  if (settings.publicUrl !== null && basePath !== '') return [base]
  const origin = base.slice(0, base.length - (base === '' ? 0 : basePath.length))
  return prefixes.map((prefix) => `${origin}${prefix}`).map((address) => (address === '' ? '/' : address))
}
