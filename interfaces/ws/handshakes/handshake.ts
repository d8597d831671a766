import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ResumePoint } from '../../../application/lives/queries/resume-point.ts'

/**
 * Is a WebSocket asked for? Every other upgrade is an offer that the server may ignore (RFC 9110, 7.8): clients that
 * know HTTP/2 offer `h2c` with any request, which is then answered over HTTP/1.1.
 */
export const asksForWebSocket = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.upgrade ?? '').split(',').some((offer) => offer.trim().toLowerCase() === 'websocket')

/** An answer instead of 101 (D36). */
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
/** There is no place left for a socket of this role. */
export const FULL = tooMany(30)
export const BROKEN: HandshakeRefusal = { status: 500, detail: 'Internal Server Error' }
export const UNAVAILABLE: HandshakeRefusal = { status: 503, detail: 'Service Unavailable', headers: { 'Retry-After': '5' } }
export const DRAINING: HandshakeRefusal = { status: 503, detail: 'The server is shutting down', headers: { 'Retry-After': '5' } }

const LONGEST_TOKEN = 512

/** One value, under either name, as often as it likes; empty ones are as good as none, different ones are refused. */
export const findToken = (query: string): string | HandshakeRefusal => {
  const parameters = new URLSearchParams(query)
  const values = new Set([...parameters.getAll('token'), ...parameters.getAll('token_sender')])
  values.delete('')
  const [token] = values
  if (token === undefined) return NOT_AUTHENTICATED
  return values.size > 1 || token.length > LONGEST_TOKEN ? BAD_TOKEN : token
}

/** B24. */
const MOST_REPLAYED = 100

const countOf = (parameters: URLSearchParams, name: string): number | null | 'bad' => {
  const values = new Set(parameters.getAll(name))
  const [text] = values
  if (text === undefined) return null
  return values.size === 1 && /^\d{1,15}$/.test(text) ? Number(text) : 'bad'
}

/**
 * D58: `after` (the last segment that the client has) or `replay` (so many last segments, at most 100); null for neither.
 * Who gives both resumes.
 */
export const findResumePoint = (query: string): ResumePoint | null | 'bad' => {
  const parameters = new URLSearchParams(query)
  const [segment, count] = [countOf(parameters, 'after'), countOf(parameters, 'replay')]
  if (segment === 'bad' || count === 'bad') return 'bad'
  if (segment !== null) return { kind: 'after', segment }
  return count === null || count === 0 ? null : { kind: 'last', count: Math.min(count, MOST_REPLAYED) }
}

/** S27: browsers send an Origin, other programs need not. */
export const isOriginAllowed = (request: IncomingMessage, allowed: '*' | ReadonlyArray<string>): boolean => {
  const { origin } = request.headers
  return allowed === '*' || origin === undefined || allowed.includes(origin)
}

/** Answers and closes; the request never became a socket. */
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
