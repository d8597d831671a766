import * as E from 'fp-ts/lib/Either.js'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { TooManyRequests, Unavailable } from '../../../application/refusals.ts'
import type { ResumePoint } from '../../../application/lives/queries/resume-point.ts'
import type { Issue } from '../../http/codecs/issues.ts'
import { decodePart, integerText, lastValue, members, optional } from '../../http/codecs/validation.ts'
import { rawResponse } from '../../http/connections/raw-response.ts'
import { MAX_VALUES, valuesIn } from '../../http/query.ts'

/**
 * Returns whether a request is a WebSocket handshake. Other upgrades are optional (RFC 9110, 7.8): HTTP/2 clients offer
 * `h2c` with any request, and get the response over HTTP/1.1.
 */
export const isWebSocketRequest = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.upgrade ?? '').split(',').some((offer) => offer.trim().toLowerCase() === 'websocket')

/** The HTTP response to a refused handshake. */
export interface HandshakeRefusal {
  readonly status: 400 | 401 | 403 | 404 | 422 | 429 | 500 | 503
  readonly detail: string | ReadonlyArray<Issue>
  readonly headers?: Readonly<Record<string, string>>
}

const challenge = { 'WWW-Authenticate': 'Bearer' }

export const NOT_FOUND: HandshakeRefusal = { status: 404, detail: 'Not Found' }
/** The bytes of a body would be read as frames. */
export const WITH_BODY: HandshakeRefusal = { status: 400, detail: 'A WebSocket handshake has no body' }
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
/** Refuses a handshake whose token could not be looked up. */
export const refusalOf = (reason: Unavailable | TooManyRequests): HandshakeRefusal =>
  reason._tag === 'TooManyRequests' ? tooMany(reason.seconds) : UNAVAILABLE
export const DRAINING: HandshakeRefusal = { status: 503, detail: 'The server is shutting down', headers: RETRY_SOON }

const MAX_TOKEN_CHARS = 512

/** Returns the token of a query. It may be repeated, but must have one value. An empty token counts as missing. */
export const findToken = (query: string): string | HandshakeRefusal => {
  const { token: tokens = [], token_sender: others = [] } = valuesIn(query, ['token', 'token_sender'])
  if (Math.max(tokens.length, others.length) > MAX_VALUES) return BAD_TOKEN
  const values = new Set([...tokens, ...others])
  values.delete('')
  const [token] = values
  if (token === undefined) return NOT_AUTHENTICATED
  return values.size > 1 || token.length > MAX_TOKEN_CHARS ? BAD_TOKEN : token
}

/** Final segments that `replay` may request. */
export const MAX_REPLAYED = 100
/** Largest number of a segment in `after`. */
export const MAX_SEGMENT = 999_999_999_999_999

/** Query parameters with which a client asks for past final segments. */
const resumeQuery = members({
  after: lastValue(optional(integerText(0, MAX_SEGMENT), null)),
  replay: lastValue(optional(integerText(0, MAX_REPLAYED), 0)),
})

/**
 * Parses `after` (the last segment that the client has) or `replay` (the number of last segments). `after` takes
 * precedence. Null if neither is sent.
 */
export const findResumePoint = (query: string): E.Either<HandshakeRefusal, ResumePoint | null> => {
  const decoded = decodePart('query', resumeQuery, valuesIn(query, ['after', 'replay']))
  if (E.isLeft(decoded)) return E.left({ status: 422, detail: decoded.left })
  const { after, replay } = decoded.right
  if (after !== null) return E.right({ kind: 'after', segment: after })
  return E.right(replay === 0 ? null : { kind: 'last', count: replay })
}

/** Browsers always send an Origin. Requests without one come from other programs, and are allowed. */
export const isOriginAllowed = (request: IncomingMessage, allowed: '*' | ReadonlyArray<string>): boolean => {
  const { origin } = request.headers
  return allowed === '*' || origin === undefined || allowed.includes(origin)
}

/** Sends an HTTP response with the id of the request, and closes the connection. */
export const refuse = (socket: Duplex, { status, detail, headers }: HandshakeRefusal, requestId: string): void => {
  socket.once('finish', () => socket.destroy())
  socket.end(rawResponse(status, detail, { 'X-Request-ID': requestId, ...headers }))
}
