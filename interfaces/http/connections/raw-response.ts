import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'

/** Default Content-Security-Policy. A response of the interface is not a page, so it loads nothing. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** Returns a complete HTTP response that closes its connection, for errors before a request reaches the application. */
export const rawResponse = (status: number, detail: string, headers: Readonly<Record<string, string>> = {}): string => {
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
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`
}
