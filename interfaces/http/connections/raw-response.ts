import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'

/** Default Content-Security-Policy. A response of the interface is not a page, so it loads nothing. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

interface RawResponse {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const responseOf = (detail: unknown, headers: Readonly<Record<string, string>>): RawResponse => {
  const body = JSON.stringify({ detail })
  const all = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'Content-Security-Policy': API_POLICY,
    'X-Content-Type-Options': 'nosniff',
    'X-Request-ID': randomUUID(),
    ...headers,
    Connection: 'close',
  }
  return { headers: all, body }
}

/**
 * Returns a complete HTTP response that closes its connection, for errors before a request reaches the application.
 * `detail`: a text or a list of issues.
 */
export const rawResponse = (
  status: number,
  detail: unknown,
  sent: Readonly<Record<string, string>> = {},
): string => {
  const { headers, body } = responseOf(detail, sent)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}

/** Sends the same response to a request that Node's parser has accepted. */
export const sendRefusal = (response: ServerResponse, status: number, detail: string): void => {
  const { headers, body } = responseOf(detail, {})
  response.writeHead(status, headers).end(body)
}
