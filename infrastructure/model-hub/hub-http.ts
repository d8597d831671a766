import type { IncomingMessage } from 'node:http'
import { createAddressGuard } from '../sources/network/address-guard.ts'
import { checkLiteral, guardedGet, REDIRECTS } from '../sources/network/guarded-get.ts'
import { HubError, retryAfterMs } from './hub-error.ts'

/** The source of models, unless the operator sets HUB_URL. */
const HUB = 'https://huggingface.co'
const MAX_REDIRECTS = 5
/** A connection without a byte for this time counts as broken. */
const IDLE_MS = 30_000
const TEMPORARY_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504])
const MAX_JSON_BYTES = 16 * 2 ** 20

/** The hash and size of a file in the hub's own headers, which come with its redirect to the storage. */
export interface LinkedFile {
  readonly etag: string | null
  readonly size: number | null
}

interface Answer {
  readonly response: IncomingMessage
  readonly linked: LinkedFile
}

/** GET requests to the hub. They throw HubError. */
export interface HubHttp {
  readonly url: (path: string) => URL
  /** Resolves with status 200, or 206 for a range. The caller must read the body. */
  readonly open: (url: URL, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** Resolves with the parsed JSON body and the address of the next page, if any. */
  readonly json: (url: URL) => Promise<{ readonly body: unknown; readonly next: URL | null }>
}

const textOf = (header: string | ReadonlyArray<string> | undefined): string | null =>
  typeof header === 'string' ? header : null

/** Returns an ETag without its quotes and without the mark of a weak ETag. */
const bareEtag = (header: string | null): string | null => header?.replace(/^W\//, '').replaceAll('"', '') ?? null

const refusalOf = (url: URL, response: IncomingMessage, isStorage: boolean): HubError => {
  const status = response.statusCode ?? 0
  const reason = textOf(response.headers['x-error-message']) ?? textOf(response.headers['x-error-code']) ?? ''
  const detail = reason === '' ? '' : `: ${reason.slice(0, 200).replace(/[\p{Cc}\p{Cf}]/gu, '?')}`
  const waitMs = retryAfterMs(response.headers)
  // 401 and 403 of the storage mean that its signed address has expired. The next attempt gets a new address.
  if (TEMPORARY_STATUSES.has(status) || (isStorage && (status === 401 || status === 403))) {
    return new HubError(`${url.host} answered ${status}${detail}`, { isTemporary: true, waitMs, status })
  }
  // Without a login the hub answers 401 instead of 404 for unknown models.
  if (status === 401 || status === 403)
    return new HubError(`${url.host} has no public model of this name${detail} (${status})`, { status })
  const isTemporary = status === 416
  return new HubError(`${url.host} answered ${status} for ${url.pathname}${detail}`, { status, isTemporary })
}

/**
 * Creates the client of the hub. Without a mirror every request, including redirects, uses https and a checked public
 * address. The operator trusts a `mirror`: private addresses are allowed, and http if its own address uses http. All
 * requests end when `signal` aborts.
 */
export const createHubHttp = (mirror: URL | null = null, signal: AbortSignal | null = null): HubHttp => {
  const base = mirror ?? new URL(HUB)
  const schemes = new Set(['https:', ...(mirror?.protocol === 'http:' ? ['http:'] : [])])
  const guard = createAddressGuard({ allow: mirror === null ? [] : ['0.0.0.0/0', '::/0'], ownPort: null })

  const check = async (url: URL): Promise<void> => {
    if (!schemes.has(url.protocol)) throw new HubError(`request to ${url.host} refused: ${url.protocol} is not https`)
    await checkLiteral(guard, url).catch(() => {
      throw new HubError(`request to ${url.host} refused: it has no public address`)
    })
  }

  const send = (url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = guardedGet(guard, url, resolve, { headers, lookupError: (error) => error as Error })
      signal?.addEventListener('abort', () => sent.destroy(new Error('cancelled')), { once: true })
      sent.setTimeout(IDLE_MS, () => sent.destroy(new Error(`no data for ${IDLE_MS / 1000} s`)))
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const isForbidden = error.message === 'address_forbidden'
        const reason = isForbidden ? 'it has no public address' : (error.code ?? error.message)
        const isTemporary = !isForbidden && error.code !== 'ENOTFOUND'
        reject(new HubError(`${url.host} cannot be reached: ${reason}`, { isTemporary }))
      })
      sent.end()
    })

  const open: HubHttp['open'] = async (start, headers = {}) => {
    let url = start
    let linked: Answer['linked'] = { etag: null, size: null }
    for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
      await check(url)
      const response = await send(url, headers)
      const location = REDIRECTS.has(response.statusCode ?? 0) ? response.headers.location : undefined
      const size = textOf(response.headers['x-linked-size'])
      linked = {
        etag: bareEtag(textOf(response.headers['x-linked-etag'])) ?? linked.etag,
        size: size === null || !/^\d+$/.test(size) ? linked.size : Number(size),
      }
      if (location === undefined) {
        if (response.statusCode === 200 || response.statusCode === 206) return { response, linked }
        response.destroy()
        throw refusalOf(url, response, url.origin !== base.origin)
      }
      response.destroy()
      const next = URL.parse(location, url.href)
      if (next === null) throw new HubError(`${url.host} redirects to an invalid address`)
      url = next
    }
    throw new HubError(`${start.host} redirects more than ${MAX_REDIRECTS} times`)
  }

  const json: HubHttp['json'] = async (url) => {
    const { response } = await open(url, { accept: 'application/json' })
    const pieces: Array<Buffer> = []
    let size = 0
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        size += piece.length
        if (size > MAX_JSON_BYTES)
          throw new HubError(`${url.host} answers more than ${MAX_JSON_BYTES} bytes for ${url.pathname}`)
        pieces.push(piece)
      }
      const next = /<([^<>]+)>\s*;\s*rel="?next"?/.exec(textOf(response.headers['link']) ?? '')?.[1]
      const body = JSON.parse(Buffer.concat(pieces).toString()) as unknown
      return { body, next: next === undefined ? null : URL.parse(next, url.href) }
    } catch (error) {
      if (error instanceof HubError) throw error
      throw new HubError(`${url.host} broke off its answer for ${url.pathname}`, { isTemporary: true })
    }
  }

  return { url: (path) => new URL(path, base), open, json }
}
