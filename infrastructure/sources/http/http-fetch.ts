import { Agent as HttpAgent, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { AddressGuard } from '../network/address-guard.ts'
import { type Authentication, createAuthentication, credentialsOf } from '../network/authentication.ts'
import { checkLiteral, guardedGet, REDIRECTS } from '../network/guarded-get.ts'
import { IDLE_MS } from '../network/guarded-socket.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

const MAX_REDIRECTS = 3
/** Authentication challenges that one request answers: the first one, and one with a newer nonce. */
const MAX_CHALLENGES = 2
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
  readonly response: IncomingMessage
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
  /** Requests a URL and returns the response. The caller reads the body, without a time limit. */
  readonly open: (url: URL) => Promise<Opened>
  /** Returns the whole body, of at most `limit` bytes. */
  readonly bytes: (url: URL, limit: number, range?: ByteRange | null) => Promise<Fetched>
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

const wholeBody = async (response: IncomingMessage, limit: number): Promise<Buffer> => {
  const pieces: Array<Buffer> = []
  let size = 0
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length
      if (size > limit) throw new SourceError('too_large')
      pieces.push(piece)
    }
  } catch (error) {
    throw sourceErrorOf(error)
  }
  return Buffer.concat(pieces)
}

const rangeHeader = ({ offset, length }: ByteRange): Record<string, string> =>
  ({ range: `bytes=${offset}-${offset + length - 1}` })

interface Exchange {
  readonly sent: ClientRequest
  readonly response: IncomingMessage
}

/**
 * Creates the HTTP client for sources. The guard checks every address of every redirect, and the connection uses a
 * checked address. Credentials of the first URL are sent only to its own origin. They are sent only after a challenge,
 * because a server with Digest authentication must never receive the password.
 */
export const createFetcher = (guard: AddressGuard, first: URL, note: Note): Fetcher => {
  const agentOptions = { keepAlive: true, maxSockets: 4 }
  const agents = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) }
  const authenticationFor = createAuthentications(first)

  const send = (url: URL, headers: Record<string, string>): Promise<Exchange> =>
    new Promise((resolve, reject) => {
      const sent = guardedGet(
        guard,
        url,
        (response) => {
          note('connect', `${response.socket.remoteAddress} port ${response.socket.remotePort}`)
          const contentType = response.headers['content-type']?.slice(0, 80) ?? 'no content type'
          note('request', `HTTP status ${response.statusCode}, ${contentType}`)
          resolve({ sent, response })
        },
        { headers, agents },
      )
      sent.setTimeout(IDLE_MS, () => sent.destroy(new SourceError('timeout')))
      sent.on('error', (error) => reject(sourceErrorOf(error)))
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

  const follow = async (start: URL, headers: Record<string, string>): Promise<Opened & Exchange> => {
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

  const openUncompressed = async (start: URL, headers: Record<string, string>) => {
    const answer = await follow(start, headers)
    const encoding = answer.response.headers['content-encoding'] ?? 'identity'
    if (encoding === 'identity') return answer
    // We did not accept compression. Compressed data could expand beyond every limit.
    answer.response.destroy()
    throw new SourceError('bad_answer')
  }

  return {
    open: async (start) => {
      const { url, response, sent } = await openUncompressed(start, {})
      // No timeout, because a slow consumer of an endless body may leave the socket idle.
      sent.setTimeout(0)
      return { url, response }
    },
    bytes: async (start, limit, range = null) => {
      const { url, response } = await openUncompressed(start, range === null ? {} : rangeHeader(range))
      const body = await wholeBody(response, limit)
      const isExact = range === null || response.statusCode === 206
      return { url, bytes: isExact ? body : body.subarray(range.offset, range.offset + range.length) }
    },
    range: async (start, range) => {
      const answer = await openUncompressed(start, rangeHeader(range)).catch((error: unknown) => {
        if (error instanceof SourceError && error.code === 'http_416') return null
        throw error
      })
      if (answer === null) return null
      const { url, response } = answer
      const contentRange = response.headers['content-range'] ?? ''
      const [, from, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(contentRange) ?? []
      const total = size === undefined || size === '*' ? null : Number(size)
      if (response.statusCode === 206 && Number(from) === range.offset)
        return { url, bytes: await wholeBody(response, range.length), total }
      response.destroy()
      return null
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
