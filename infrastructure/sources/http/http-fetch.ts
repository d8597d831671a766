import { Agent as HttpAgent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { AddressGuard } from '../network/address-guard.ts'
import { type Authentication, createAuthentication, credentialsOf } from '../network/authentication.ts'
import { checkLiteral, guardedGet, REDIRECTS } from '../network/guarded-get.ts'
import { IDLE_MS } from '../network/guarded-socket.ts'
import { createCookies } from './cookies.ts'
import { acceptIcy } from './icy.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

/** Time for an answer. It is shorter than the limit of silence of a session, so that a backup can still be tried. */
const ANSWER_MS = 8000
const MAX_REDIRECTS = 3
/** Authentication challenges that one request answers: the first one, and one with a newer nonce. */
const MAX_CHALLENGES = 2
/** How often a body that breaks off is requested again. */
const MAX_BREAKS = 2
/** Cached authentications. Playlists may contain passwords for other servers. */
const MAX_AUTHENTICATIONS = 16

/** Part of a resource, in bytes. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

export interface Opened {
  /** The address after redirects. */
  readonly url: URL
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Throws `timeout` when no byte arrives, and other SourceErrors. */
  readonly body: AsyncIterable<Buffer>
}

export interface Fetched {
  readonly url: URL
  readonly bytes: Buffer
}

/** Part of a body. It may be shorter than the requested range at the end of the body. */
export interface FetchedRange extends Fetched {
  /** Size of the whole body in bytes; null: unknown. */
  readonly total: number | null
}

export interface Fetcher {
  /** Requests a URL and returns the answer. The caller reads its body as slowly as it likes. */
  readonly open: (url: URL) => Promise<Opened>
  /** Returns the whole body, of at most `limit` bytes. */
  readonly bytes: (url: URL, limit: number, range?: ByteRange | null) => Promise<Fetched>
  /** Yields the body, of at most `limit` bytes. If it breaks off, it is requested again and continued. */
  readonly pieces: (url: URL, limit: number, range?: ByteRange | null) => AsyncIterable<Buffer>
  /** Returns part of a body; null: the server does not support ranges, or the range is after the end. */
  readonly range: (url: URL, range: ByteRange) => Promise<FetchedRange | null>
  /** Closes all connections. */
  readonly close: () => void
}

/** Keeps one authentication for each server and password, so later requests need no challenge. */
const createAuthentications = (first: URL) => {
  const known = new Map<string, Authentication>()
  return (url: URL): Authentication => {
    const { username, password } = url.username === '' && url.origin === first.origin ? first : url
    const key = JSON.stringify([url.origin, username, password])
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= MAX_AUTHENTICATIONS) known.clear()
    const authentication = createAuthentication(credentialsOf({ username, password }))
    known.set(key, authentication)
    return authentication
  }
}

/** The body as it was before a compression for which we did not ask. It is inflated as it is read, so limits hold. */
const inflated = (response: IncomingMessage): Readable => {
  const encoding = (response.headers['content-encoding'] ?? 'identity').toLowerCase()
  if (encoding === 'identity') return response
  // Part of a compressed body cannot be read alone.
  if (/^(?:x-)?gzip$/.test(encoding) && response.statusCode !== 206)
    return pipeline(response, createGunzip(), () => undefined)
  response.destroy()
  throw new SourceError('bad_answer')
}

interface Exchange {
  readonly sent: ClientRequest
  readonly response: IncomingMessage
}

/** Reads a body. There is no time limit between two reads, because a slow consumer may leave the socket idle. */
async function* bodyOf({ sent, response }: Exchange): AsyncGenerator<Buffer, void, undefined> {
  try {
    sent.setTimeout(IDLE_MS)
    for await (const piece of inflated(response) as AsyncIterable<Buffer>) {
      sent.setTimeout(0)
      yield piece
      sent.setTimeout(IDLE_MS)
    }
  } catch (error) {
    throw sourceErrorOf(error)
  }
}

async function* limited(body: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer, void, undefined> {
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > limit) throw new SourceError('too_large')
    yield piece
  }
}

/** Reads a body of at most `limit` bytes. */
export const wholeBody = async (body: AsyncIterable<Buffer>, limit: number): Promise<Buffer> => {
  const pieces: Array<Buffer> = []
  for await (const piece of limited(body, limit)) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Leaves out the bytes before `from`, and ends before `to`. */
async function* within(
  body: AsyncIterable<Buffer>,
  from: number,
  to: number,
): AsyncGenerator<Buffer, void, undefined> {
  let at = 0
  for await (const piece of body) {
    const wanted = piece.subarray(Math.max(0, from - at), Math.max(0, to - at))
    at += piece.length
    if (wanted.length > 0) yield wanted
    if (at >= to) return
  }
}

const rangeHeader = ({ offset, length }: ByteRange): Record<string, string> =>
  ({ range: `bytes=${offset}-${offset + length - 1}` })

/**
 * Creates the HTTP client for sources. The guard checks every address of every redirect, and the connection uses a
 * checked address. Credentials of the first URL are sent only to its own origin. They are sent only after a challenge,
 * because a server with Digest authentication must never receive the password.
 */
export const createFetcher = (guard: AddressGuard, first: URL, note: Note): Fetcher => {
  const agentOptions = { keepAlive: true, maxSockets: 4 }
  const agents = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) }
  const authenticationFor = createAuthentications(first)
  const cookies = createCookies()

  const send = (url: URL, headers: Record<string, string>): Promise<Exchange> =>
    new Promise((resolve, reject) => {
      const sent = guardedGet(
        guard,
        url,
        (response) => {
          clearTimeout(timeout)
          sent.on('timeout', () => response.destroy(new SourceError('timeout')))
          cookies.keep(url, response.headers['set-cookie'] ?? [])
          note('connect', `${response.socket.remoteAddress} port ${response.socket.remotePort}`)
          const contentType = response.headers['content-type']?.slice(0, 80) ?? 'no content type'
          note('request', `HTTP status ${response.statusCode}, ${contentType}`)
          resolve({ sent, response })
        },
        { headers: { ...cookies.headerFor(url), ...headers }, agents },
      )
      sent.once('socket', acceptIcy)
      const timeout = setTimeout(() => sent.destroy(new SourceError('timeout')), ANSWER_MS)
      sent.on('error', (error) => {
        clearTimeout(timeout)
        reject(sourceErrorOf(error))
      })
      sent.end()
    })

  /** Sends a request and answers authentication challenges. Does not follow redirects. */
  const request = async (url: URL, headers: Record<string, string>): Promise<Exchange> => {
    const authentication = authenticationFor(url)
    for (let challenges = 0; ; challenges += 1) {
      const authorization = authentication.authorization('GET', url.pathname + url.search)
      const answer = await send(url, { ...(authorization === null ? {} : { authorization }), ...headers })
      if (answer.response.statusCode !== 401 || challenges >= MAX_CHALLENGES) return answer
      if (!authentication.challenged(answer.response.headersDistinct['www-authenticate'] ?? [])) return answer
      answer.response.destroy()
    }
  }

  const follow = async (start: URL, headers: Record<string, string>): Promise<Exchange & { readonly url: URL }> => {
    let url = start
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new SourceError('scheme_forbidden')
      await checkLiteral(guard, url)
      const { sent, response } = await request(url, headers)
      const status = response.statusCode ?? 0
      const location = REDIRECTS.has(status) ? response.headers.location : undefined
      if (location === undefined) {
        if (status === 200 || status === 206) return { url, response, sent }
        response.destroy()
        throw new SourceError(`http_${status}`)
      }
      response.destroy()
      const next = URL.parse(location, url.href)
      if (next === null) throw new SourceError('bad_answer')
      url = next
    }
    throw new SourceError('too_many_redirects')
  }

  const open = async (start: URL, range: ByteRange | null): Promise<Opened> => {
    const { url, ...exchange } = await follow(start, range === null ? {} : rangeHeader(range))
    const { statusCode: status = 0, headers } = exchange.response
    return { url, status, headers, body: bodyOf(exchange) }
  }

  /** Opens part of a body. A server that does not support ranges sends the whole body, which is cut here. */
  const openPart = async (start: URL, limit: number, range: ByteRange | null) => {
    const { url, status, body } = await open(start, range)
    const isCut = range !== null && status !== 206
    const cut = limited(body, limit)
    return { url, body: isCut ? within(cut, range.offset, range.offset + range.length) : cut }
  }

  return {
    open: async (start) => open(start, null),
    bytes: async (start, limit, range = null) => {
      const { url, body } = await openPart(start, limit, range)
      return { url, bytes: await wholeBody(body, limit) }
    },
    pieces: async function* (start, limit, range = null) {
      let taken = 0
      for (let breaks = 0; ; breaks += 1)
        try {
          const { body } = await openPart(start, limit, range)
          for await (const piece of within(body, taken, Infinity)) {
            taken += piece.length
            yield piece
          }
          return
        } catch (error) {
          if (taken === 0 || breaks >= MAX_BREAKS || !sourceErrorOf(error).retry) throw error
        }
    },
    range: async (start, range) => {
      const answer = await follow(start, rangeHeader(range)).catch((error: unknown) => {
        if (error instanceof SourceError && error.code === 'http_416') return null
        throw error
      })
      if (answer === null) return null
      const { url, response } = answer
      const contentRange = response.headers['content-range'] ?? ''
      const [, from, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(contentRange) ?? []
      const total = size === undefined || size === '*' ? null : Number(size)
      if (response.statusCode === 206 && Number(from) === range.offset)
        return { url, bytes: await wholeBody(bodyOf(answer), range.length), total }
      response.destroy()
      return null
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
