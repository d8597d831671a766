import {
  type Agent as HttpAgent, type ClientRequest, type IncomingMessage, request as httpRequest, type RequestOptions,
} from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { type AddressGuard, portOf } from './address-guard.ts'
import { checkedLookup } from './guarded-socket.ts'

export const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export interface GuardedGetOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly agents?: { readonly http: HttpAgent; readonly https: HttpsAgent }
  /** Converts the error for a forbidden or unresolved host. Default: a SourceError. */
  readonly lookupError?: (error: unknown) => Error
}

const hostOfRequest = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/**
 * Checks a URL with an IP address. Call it before `guardedGet`: sockets do not look up IP addresses, so they would
 * bypass the check in the lookup. Throws the errors of the guard.
 */
export const checkLiteral = async (guard: AddressGuard, url: URL): Promise<void> => {
  if (isIP(hostOfRequest(url)) !== 0) await guard.resolve(url.hostname, portOf(url))
}

/**
 * Creates a GET request, without sending it. Its socket connects only to addresses that the guard has checked. The
 * request asks for an uncompressed body.
 */
export const guardedGet = (
  guard: AddressGuard,
  url: URL,
  answered: (response: IncomingMessage) => void,
  options: GuardedGetOptions,
): ClientRequest => {
  const { headers, agents, lookupError } = options
  const host = hostOfRequest(url)
  const request: RequestOptions = {
    host,
    port: portOf(url),
    path: url.pathname + url.search,
    lookup: checkedLookup(guard, portOf(url), lookupError),
    headers: { host: url.host, 'user-agent': 'stenolog', accept: '*/*', 'accept-encoding': 'identity', ...headers },
  }
  return url.protocol === 'https:'
    ? httpsRequest({ ...request, agent: agents?.https, ...(isIP(host) === 0 ? { servername: host } : {}) }, answered)
    : httpRequest({ ...request, agent: agents?.http }, answered)
}
