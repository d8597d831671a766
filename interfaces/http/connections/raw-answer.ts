import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'

/** Says that the interface is no page, on every answer that sets nothing else. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'"

/** The text of a whole response that ends its connection, for what never became a request and has no route. */
export const rawAnswer = (status: number, detail: string, headers: Readonly<Record<string, string>> = {}): string => {
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
