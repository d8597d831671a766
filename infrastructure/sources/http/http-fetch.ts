import { Agent as HttpAgent } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { AddressGuard } from '../network/address-guard.ts'
import { createAuthentication, credentialsOf } from '../network/authentication.ts'
import type { Authentication } from '../network/authentication.ts'
import { checkLiteral, guardedGet, REDIRECTS } from '../network/guarded-get.ts'
import { IDLE_MS } from '../network/guarded-socket.ts'
import { SourceError, sourceErrorOf } from '../source-error.ts'
import type { Note } from '../source-kind.ts'

/** S3. */
const MAX_REDIRECTS = 3
/** Questions for a password that one request is answered with: the first, and that for a newer nonce. */
const MAX_CHALLENGES = 2
/** Passwords that playlists may name for other servers. */
const MAX_KNOWN = 16

/** Part of a resource, in bytes. */
export interface ByteRange {
  readonly offset: number
  readonly length: number
}

export interface Opened {
  /** After redirects. */
  readonly url: URL
  readonly response: IncomingMessage
}

export interface Fetched {
  readonly url: URL
  readonly bytes: Buffer
}

/** Part of a body, which a server may cut short where the body ends. */
export interface FetchedRange extends Fetched {
  /** Bytes of the whole, null where the server does not say. */
  readonly total: number | null
}

export interface Fetcher {
  /** The answer's head; the body is the caller's to read, without limit of time. */
  readonly open: (url: URL) => Promise<Opened>
  /** The whole body, of at most `limit` bytes. */
  readonly bytes: (url: URL, limit: number, range?: ByteRange | null) => Promise<Fetched>
  /** Null where the server answers no ranges, or has nothing there. */
  readonly range: (url: URL, range: ByteRange) => Promise<FetchedRange | null>
  /** Cuts all connections. */
  readonly close: () => void
}

/** One for each server and password: what it asked for is answered in later requests unasked. */
const createPasswords = (first: URL) => {
  const known = new Map<string, Authentication>()
  return (url: URL): Authentication => {
    const { username, password } = url.username === '' && url.origin === first.origin ? first : url
    const key = JSON.stringify([url.origin, username, password])
    const found = known.get(key)
    if (found !== undefined) return found
    if (known.size >= MAX_KNOWN) known.clear()
    const made = createAuthentication(credentialsOf({ username, password }))
    known.set(key, made)
    return made
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

const rangeHeader = ({ offset, length }: ByteRange): Record<string, string> => ({ range: `bytes=${offset}-${offset + length - 1}` })

/**
 * GET for pulled sources. Every address of every hop is checked by the guard, and the connection goes to what was
 * checked: the socket's only lookup is ours (S2, S3). Credentials of the first URL go to its own origin alone, and only
 * when it asks: whoever wants Digest never sees the password.
 */
export const createFetcher = (guard: AddressGuard, first: URL, note: Note): Fetcher => {
  const agents = { http: new HttpAgent({ keepAlive: true, maxSockets: 4 }), https: new HttpsAgent({ keepAlive: true, maxSockets: 4 }) }
  const passwords = createPasswords(first)

  const send = (url: URL, headers: Record<string, string>): Promise<{ readonly sent: ClientRequest; readonly response: IncomingMessage }> =>
    new Promise((resolve, reject) => {
      const sent = guardedGet(
        guard,
        url,
        (response) => {
          note('connect', `${response.socket.remoteAddress} port ${response.socket.remotePort}`)
          note('ask', `HTTP status ${response.statusCode}, ${response.headers['content-type']?.slice(0, 80) ?? 'no content type'}`)
          resolve({ sent, response })
        },
        { headers, agents },
      )
      sent.setTimeout(IDLE_MS, () => sent.destroy(new SourceError('timeout')))
      sent.on('error', (error) => reject(sourceErrorOf(error)))
      sent.end()
    })

  /** One hop, with the password that its server asks for. */
  const ask = async (url: URL, headers: Record<string, string>) => {
    const authentication = passwords(url)
    for (let challenges = 0; ; challenges += 1) {
      const authorization = authentication.authorization('GET', url.pathname + url.search)
      const answer = await send(url, { ...(authorization === null ? {} : { authorization }), ...headers })
      if (answer.response.statusCode !== 401 || challenges >= MAX_CHALLENGES) return answer
      if (!authentication.challenged(answer.response.headersDistinct['www-authenticate'] ?? [])) return answer
      answer.response.destroy()
    }
  }

  const follow = async (start: URL, headers: Record<string, string>): Promise<Opened & { readonly sent: ClientRequest }> => {
    let url = start
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new SourceError('scheme_forbidden')
      await checkLiteral(guard, url)
      const { sent, response } = await ask(url, headers)
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

  const opened = async (start: URL, headers: Record<string, string>) => {
    const answer = await follow(start, headers)
    const encoding = answer.response.headers['content-encoding'] ?? 'identity'
    if (encoding === 'identity') return answer
    // We asked for none, and what unpacks to any size has no limit (S8).
    answer.response.destroy()
    throw new SourceError('bad_answer')
  }

  return {
    open: async (start) => {
      const { url, response, sent } = await opened(start, {})
      // Whoever reads an endless body slowly leaves the socket idle on purpose.
      sent.setTimeout(0)
      return { url, response }
    },
    bytes: async (start, limit, range = null) => {
      const { url, response } = await opened(start, range === null ? {} : rangeHeader(range))
      const all = await wholeBody(response, limit)
      const wanted = range === null || response.statusCode === 206 ? all : all.subarray(range.offset, range.offset + range.length)
      return { url, bytes: wanted }
    },
    range: async (start, range) => {
      const answer = await opened(start, rangeHeader(range)).catch((error: unknown) => {
        if (error instanceof SourceError && error.code === 'http_416') return null
        throw error
      })
      if (answer === null) return null
      const { url, response } = answer
      const [, from, total] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(response.headers['content-range'] ?? '') ?? []
      if (response.statusCode === 206 && Number(from) === range.offset)
        return { url, bytes: await wholeBody(response, range.length), total: total === undefined || total === '*' ? null : Number(total) }
      response.destroy()
      return null
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
