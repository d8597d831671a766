import type { IncomingMessage } from 'node:http'
import { createAddressGuard } from '../sources/network/address-guard.ts'
import { checkLiteral, guardedGet, REDIRECTS } from '../sources/network/guarded-get.ts'
import { HubError, waitOf } from './hub-error.ts'

/** Where models come from, unless the operator names a mirror. */
const HUB = 'https://huggingface.co'
const MAX_REDIRECTS = 5
/** No byte for so long while we wait for one. */
const IDLE_MS = 30_000
const PASSING = new Set([408, 425, 429, 500, 502, 503, 504])
const MAX_JSON_BYTES = 16 * 2 ** 20

interface Answer {
  readonly response: IncomingMessage
  /** Of the file as the hub knows it: it says so with its redirect to the storage. */
  readonly linked: { readonly etag: string | null; readonly size: number | null }
}

/** GET from the hub. Throws HubError. */
export interface HubHttp {
  /** An address on the hub. */
  readonly url: (path: string) => URL
  /** 200 or, with a range, 206; the body is the caller's to read. */
  readonly open: (url: URL, headers?: Readonly<Record<string, string>>) => Promise<Answer>
  /** A decoded JSON body with the address of the next page, if there is one. */
  readonly json: (url: URL) => Promise<{ readonly body: unknown; readonly next: URL | null }>
}

const textOf = (header: string | ReadonlyArray<string> | undefined): string | null => (typeof header === 'string' ? header : null)

/** Strong or weak, quoted or not. */
const bareEtag = (header: string | null): string | null => header?.replace(/^W\//, '').replaceAll('"', '') ?? null

const refusalOf = (url: URL, response: IncomingMessage, isStorage: boolean): HubError => {
  const status = response.statusCode ?? 0
  const said = textOf(response.headers['x-error-message']) ?? textOf(response.headers['x-error-code']) ?? ''
  const detail = said === '' ? '' : `: ${said.slice(0, 200).replace(/[\p{Cc}\p{Cf}]/gu, '?')}`
  const waitMs = waitOf(response.headers, Date.now())
  // A signed address of the storage that has expired is refused too; the next attempt gets a new one.
  if (PASSING.has(status) || (isStorage && (status === 401 || status === 403))) {
    return new HubError(`${url.host} answered ${status}${detail}`, { passing: true, waitMs, status })
  }
  // Without a login the hub answers 401, not 404, for what it does not have.
  if (status === 401 || status === 403) return new HubError(`${url.host} has no such public model${detail} (${status})`, { status })
  return new HubError(`${url.host} answered ${status} for ${url.pathname}${detail}`, { status, passing: status === 416 })
}

/**
 * `mirror` in place of the hub is the operator's word: then http is allowed where the mirror's own address has it, and private
 * addresses are. Once `signal` aborts all requests are broken off. Without a mirror every hop is https and goes to a public address that was checked, by the socket's only lookup.
 */
export const createHubHttp = (mirror: URL | null = null, signal: AbortSignal | null = null): HubHttp => {
  const base = mirror ?? new URL(HUB)
  const schemes = new Set(['https:', ...(mirror?.protocol === 'http:' ? ['http:'] : [])])
  const guard = createAddressGuard({ allow: mirror === null ? [] : ['0.0.0.0/0', '::/0'], ownPort: null })

  const check = async (url: URL): Promise<void> => {
    if (!schemes.has(url.protocol)) throw new HubError(`${url.host} is not asked: ${url.protocol} is not https`)
    await checkLiteral(guard, url).catch(() => {
      throw new HubError(`${url.host} is not asked: it is no public address`)
    })
  }

  const send = (url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const sent = guardedGet(guard, url, resolve, { headers, lookupError: (error) => error as Error })
      signal?.addEventListener('abort', () => sent.destroy(new Error('given up')), { once: true })
      sent.setTimeout(IDLE_MS, () => sent.destroy(new Error(`said nothing for ${IDLE_MS / 1000} s`)))
      sent.on('error', (error: NodeJS.ErrnoException) => {
        const forbidden = error.message === 'address_forbidden'
        const reason = forbidden ? 'no public address' : (error.code ?? error.message)
        reject(new HubError(`${url.host} cannot be reached: ${reason}`, { passing: !forbidden && error.code !== 'ENOTFOUND' }))
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
      if (next === null) throw new HubError(`${url.host} redirects to nowhere`)
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
        if (size > MAX_JSON_BYTES) throw new HubError(`${url.host} answers more than ${MAX_JSON_BYTES} bytes for ${url.pathname}`)
        pieces.push(piece)
      }
      const next = /<([^<>]+)>\s*;\s*rel="?next"?/.exec(textOf(response.headers['link']) ?? '')?.[1]
      return { body: JSON.parse(Buffer.concat(pieces).toString()) as unknown, next: next === undefined ? null : URL.parse(next, url.href) }
    } catch (error) {
      if (error instanceof HubError) throw error
      throw new HubError(`${url.host} broke off its answer for ${url.pathname}`, { passing: true })
    }
  }

  return { url: (path) => new URL(path, base), open, json }
}
