import { isIP } from 'node:net'

/** Where this service can be reached, as far as its settings say. */
export interface LinkSettings {
  /** The bound address. */
  readonly host: string
  readonly publicUrl: string | null
  /** A path such as `/stenolog`. */
  readonly basePath: string | null
  /**
   * Host names, with or without port; null for the default: loopback names and the bound address, which is any IP
   * address where `host` names none.
   */
  readonly allowedHosts: ReadonlyArray<string> | null
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** Bound to one of these a machine listens on all its addresses, a container also on those published for it. */
const UNSPECIFIED = new Set(['0.0.0.0', '::'])

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

interface SentHost {
  /** Without port. */
  readonly name: string
  readonly host: string
}

/** The header Host in its strict form, lower case; none for anything else, so that nothing odd gets into a link. */
const parseHost = (header: string): SentHost | null => {
  const match = /^([a-z0-9](?:[a-z0-9.-]{0,253})|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const name = match?.[1]
  if (name === undefined || Number(match?.[2] ?? 0) > 65535) return null
  return { name, host: header.toLowerCase() }
}

/**
 * May links be built from this host? A name may be anybody's, so it must be known. An IP address is that of the machine
 * that was reached by it, so it needs no list where the service listens on every address.
 */
const isAllowed = ({ allowedHosts, host }: LinkSettings, sent: SentHost): boolean => {
  const allowed = allowedHosts ?? [...LOOPBACK, bracketed(host)]
  if (allowed.some((entry) => [sent.name, sent.host].includes(entry.toLowerCase()))) return true
  return allowedHosts === null && UNSPECIFIED.has(host) && isIP(sent.name.replace(/^\[|\]$/g, '')) !== 0
}

/** The path in front of everything that clients ask for: what a proxy takes off, and BASE_PATH where that is not it. */
export const pathBase = ({ basePath }: Pick<LinkSettings, 'basePath'>, prefix: string): string =>
  prefix.endsWith(basePath ?? '') ? prefix : `${prefix}${basePath ?? ''}`

/**
 * Base WebSocket address (D22): PUBLIC_URL, else the request's Host if it is an allowed one, else ''. `prefix` is the path
 * that a trusted proxy took off.
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
 * The one-time link of the first administrator, for whoever reads what the service prints: at the public address where
 * there is one, else where the service listens; where that is every address, at the loopback one.
 */
export const setupLink = (settings: LinkSettings, boundUrl: string, token: string): string => {
  const bound = new URL(boundUrl)
  const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }
  const host = `${loopback[bound.hostname] ?? bound.hostname}${bound.port === '' ? '' : `:${bound.port}`}`
  const base = webSocketBase({ ...settings, allowedHosts: [host] }, host, bound.protocol === 'https:')
  return `${base.replace(/^ws/, 'http')}/setup#token=${token}`
}

/**
 * Where the interface can be asked: at the public address where there is one, else at the request's Host, or as paths,
 * under each of `prefixes`. Behind a public address with a prefix of its own nobody knows what else is reached.
 */
export const serverAddresses = (settings: LinkSettings, webSocketAddress: string, prefixes: ReadonlyArray<string>): ReadonlyArray<string> => {
  const base = webSocketAddress.replace(/^ws/, 'http')
  const basePath = settings.basePath ?? ''
  if (settings.publicUrl !== null && basePath !== '') return [base]
  const origin = base.slice(0, base.length - (base === '' ? 0 : basePath.length))
  return prefixes.map((prefix) => `${origin}${prefix}`).map((address) => (address === '' ? '/' : address))
}
