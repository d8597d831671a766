import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ResumePoint } from '../../../application/lives/queries/resume-point.ts'
import { valuesIn } from '../../http/query.ts'

/**
 * Returns whether a request is a WebSocket handshake. Other upgrades are optional (RFC 9110, 7.8): HTTP/2 clients offer
 * `h2c` with any request, and get the response over HTTP/1.1.
 */
export const isWebSocketRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.upgrade ?? '').split(',').some((offer) => offer.trim().toLowerCase() === 'websocket')

/** The HTTP response to a refused handshake. */
export interface HandshakeRefusal {
  readonly status: 401 | 403 | 404 | 429 | 500 | 503
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>>
}

const REASONS: Readonly<Record<HandshakeRefusal['status'], string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

const challenge = { 'WWW-Authenticate': 'Bearer' }

export const NOT_FOUND: HandshakeRefusal = { status: 404, detail: 'Not Found' }
export const NOT_AUTHENTICATED: HandshakeRefusal = { status: 401, detail: 'Not authenticated', headers: challenge }
export const BAD_TOKEN: HandshakeRefusal = { status: 401, detail: 'Could not validate credentials', headers: challenge }
export const FOREIGN_ORIGIN: HandshakeRefusal = { status: 403, detail: 'Origin not allowed' }
export const tooMany = (seconds: number): HandshakeRefusal =>
  ({ status: 429, detail: 'Too many requests', headers: { 'Retry-After': String(seconds) } })
/** No socket is free for this role. */
export const FULL = tooMany(30)
export const BROKEN: HandshakeRefusal = { status: 500, detail: 'Internal Server Error' }
const RETRY_SOON = { 'Retry-After': '5' }
export const UNAVAILABLE: HandshakeRefusal = { status: 503, detail: 'Service Unavailable', headers: RETRY_SOON }
export const DRAINING: HandshakeRefusal = { status: 503, detail: 'The server is shutting down', headers: RETRY_SOON }

const MAX_TOKEN_CHARS = 512

/** Returns the token of a query. It may be repeated, but must have one value. An empty token counts as missing. */
export const findToken = (query: string): string | HandshakeRefusal => {
  const sent = valuesIn(query, ['token', 'token_sender'])
  const values = new Set(Object.values(sent).flat())
  values.delete('')
  const [token] = values
  if (token === undefined) return NOT_AUTHENTICATED
  return values.size > 1 || token.length > MAX_TOKEN_CHARS ? BAD_TOKEN : token
}

/** Final segments that `replay` may request. */
const MAX_REPLAYED = 100

const countOf = (sent: ReadonlyArray<string>): number | null | 'bad' => {
  const values = new Set(sent)
  const [text] = values
  if (text === undefined) return null
  return values.size === 1 && /^\d{1,15}$/.test(text) ? Number(text) : 'bad'
}

/**
 * Parses `after` (the last segment that the client has) or `replay` (the number of last segments, at most 100). `after`
 * takes precedence. Null if neither is sent.
 */
export const findResumePoint = (query: string): ResumePoint | null | 'bad' => {
  const { after = [], replay = [] } = valuesIn(query, ['after', 'replay'])
  const [segment, count] = [countOf(after), countOf(replay)]
  if (segment === 'bad' || count === 'bad') return 'bad'
  if (segment !== null) return { kind: 'after', segment }
  return count === null || count === 0 ? null : { kind: 'last', count: Math.min(count, MAX_REPLAYED) }
}

/** Browsers always send an Origin. Requests without one come from other programs, and are allowed. */
export const isOriginAllowed = (request: IncomingMessage, allowed: '*' | ReadonlyArray<string>): boolean => {
  const { origin } = request.headers
  return allowed === '*' || origin === undefined || allowed.includes(origin)
}

/** Sends an HTTP response and closes the connection. */
export const refuse = (socket: Duplex, { status, detail, headers }: HandshakeRefusal): void => {
  const body = JSON.stringify({ detail })
  const head = {
    Connection: 'close',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    ...headers,
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`)
}
