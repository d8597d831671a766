/** Where this service can be reached, as far as its settings say. */
export interface LinkSettings {
  /** The bound address. */
  readonly host: string
  readonly publicUrl: string | null
  /** A path such as `/stenolog`. */
  readonly basePath: string | null
  /** Host names, with or without port; null for the default: loopback names and the bound address. */
  readonly allowedHosts: ReadonlyArray<string> | null
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

const bracketed = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)

/** The header Host in its strict form, lower case; none for anything else, so that nothing odd gets into a link. */
const parseHost = (header: string): { readonly name: string; readonly host: string } | null => {
  const match = /^([a-z0-9](?:[a-z0-9.-]{0,253})|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/.exec(header.toLowerCase())
  const name = match?.[1]
  if (name === undefined || Number(match?.[2] ?? 0) > 65535) return null
  return { name, host: header.toLowerCase() }
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
  if (sent === null) return ''
  const allowed = settings.allowedHosts ?? [...LOOPBACK, bracketed(settings.host)]
  const isAllowed = allowed.some((entry) => [sent.name, sent.host].includes(entry.toLowerCase()))
  return isAllowed ? `${encrypted ? 'wss' : 'ws'}://${sent.host}${pathBase(settings, prefix)}` : ''
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
