import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { portOf } from './address-guard.ts'
import type { AddressGuard } from './address-guard.ts'
import { checkedLookup, IDLE_MS } from './guarded-socket.ts'
import { SourceError, sourceErrorOf } from './source-error.ts'
import type { Note } from './source-kind.ts'

/** S3. */
const MAX_REDIRECTS = 3
const REDIRECTS = new Set([301, 302, 303, 307, 308])

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

export interface Fetcher {
  /** The answer's head; the body is the caller's to read, without limit of time. */
  readonly open: (url: URL) => Promise<Opened>
  /** The whole body, of at most `limit` bytes. */
  readonly bytes: (url: URL, limit: number, range?: ByteRange | null) => Promise<Fetched>
  /** Cuts all connections. */
  readonly close: () => void
}

/**
 * GET for pulled sources. Every address of every hop is checked by the guard, and the connection goes to what was
 * checked: the socket's only lookup is ours (S2, S3). Credentials of the first URL go to its own origin alone.
 */
export const createFetcher = (guard: AddressGuard, first: URL, note: Note): Fetcher => {
  const agents = { 'http:': new HttpAgent({ keepAlive: true, maxSockets: 4 }), 'https:': new HttpsAgent({ keepAlive: true, maxSockets: 4 }) }

  const authorization = (url: URL): Record<string, string> => {
    const { username, password } = url.username === '' && url.origin === first.origin ? first : url
    if (username === '' && password === '') return {}
    const plain = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` }
  }

  const send = (url: URL, headers: Record<string, string>): Promise<{ readonly sent: ClientRequest; readonly response: IncomingMessage }> =>
    new Promise((resolve, reject) => {
      const host = url.hostname.replace(/^\[|\]$/g, '')
      const options: RequestOptions = {
        host,
        port: portOf(url),
        path: url.pathname + url.search,
        lookup: checkedLookup(guard, portOf(url)),
        headers: { host: url.host, 'user-agent': 'stenolog', accept: '*/*', 'accept-encoding': 'identity', ...authorization(url), ...headers },
      }
      const answered = (response: IncomingMessage): void => {
        note('connect', `${response.socket.remoteAddress} port ${response.socket.remotePort}`)
        note('ask', `HTTP status ${response.statusCode}, ${response.headers['content-type']?.slice(0, 80) ?? 'no content type'}`)
        resolve({ sent, response })
      }
      const sent = url.protocol === 'https:'
        ? httpsRequest({ ...options, agent: agents['https:'], ...(isIP(host) === 0 ? { servername: host } : {}) }, answered)
        : httpRequest({ ...options, agent: agents['http:'] }, answered)
      sent.setTimeout(IDLE_MS, () => sent.destroy(new SourceError('timeout')))
      sent.on('error', (error) => reject(sourceErrorOf(error)))
      sent.end()
    })

  const follow = async (start: URL, headers: Record<string, string>): Promise<Opened & { readonly sent: ClientRequest }> => {
    let url = start
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new SourceError('scheme_forbidden')
      // A socket looks no literal up, so it would escape the check of the lookup.
      if (isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) await guard.resolve(url.hostname, portOf(url))
      const { sent, response } = await send(url, headers)
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
      const headers: Record<string, string> = range === null ? {} : { range: `bytes=${range.offset}-${range.offset + range.length - 1}` }
      const { url, response } = await opened(start, headers)
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
      const all = Buffer.concat(pieces)
      const wanted = range === null || response.statusCode === 206 ? all : all.subarray(range.offset, range.offset + range.length)
      return { url, bytes: wanted }
    },
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
    },
  }
}
