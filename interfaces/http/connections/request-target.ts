import type { IncomingMessage } from 'node:http'

const ABSOLUTE = /^https?:\/\/[^/?]+/i

const TARGET_INVALID = 'The request target is not valid'

/** A target never contains these characters. Koa reads a target with them as a whole URL, with a host of its own. */
const FOREIGN = /[#\s]/

/**
 * Returns why a request is malformed; null if it is not. A request for a whole URL, as proxies get it, becomes one for
 * its path, so no later code has to parse a URL.
 */
export const prepareRequest = (request: IncomingMessage): string | null => {
  const { url = '', httpVersion, headersDistinct } = request
  const { host = [] } = headersDistinct
  if (host.length > 1) return 'The header Host should be sent once'
  // HTTP/1.0 has no Host header.
  if (host.length === 0 && httpVersion === '1.1') return 'Host header is missing'
  if (FOREIGN.test(url)) return TARGET_INVALID
  if (url.startsWith('/') || url === '*') return null
  if (!ABSOLUTE.test(url) || !URL.canParse(url)) return TARGET_INVALID
  const path = url.replace(ABSOLUTE, '')
  request.url = path.startsWith('/') ? path : `/${path}`
  return null
}

export const hasBody = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
