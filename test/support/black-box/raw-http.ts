import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** One answer as its bytes came. */
export interface RawAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const parse = (text: string): RawAnswer | null => {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...lines] = text.slice(0, end).split('\r\n')
  const pairs = lines.map((one): [string, string] => {
    const at = one.indexOf(':')
    return [one.slice(0, at).toLowerCase(), one.slice(at + 1).trim()]
  })
  const headers = new Map(pairs)
  const length = Number(headers.get('content-length') ?? 0)
  const body = text.slice(end + 4)
  if (headers.get('transfer-encoding') !== undefined ? !body.includes('\r\n0\r\n\r\n') : body.length < length)
    return null
  return { status: Number(line.split(' ')[1]), headers, body }
}

/** A TCP connection; `from` is the loopback address that it comes from. */
export const dial = (url: string, from?: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect({
      host: hostname,
      port: Number(port),
      ...(from === undefined ? {} : { localAddress: from }),
    })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

/** Sends bytes on a connection of its own and reads one answer, or what came until the connection ended. */
export const ask = async (url: string, request: string, from?: string): Promise<RawAnswer> => {
  const socket = await dial(url, from)
  return new Promise((resolve, reject) => {
    let text = ''
    const done = (): void => {
      const answer = parse(text)
      if (answer === null) reject(new Error(`no whole answer: ${JSON.stringify(text.slice(0, 200))}`))
      else resolve(answer)
      socket.destroy()
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (parse(text) !== null) done()
    })
    socket.once('close', done)
    socket.on('error', () => undefined)
    socket.setTimeout(30_000, done)
    socket.write(request)
  })
}

/** A request in bytes, with the headers that every client sends. */
export const requestOf = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === '' ? [] : [`Content-Length: ${body.length}`]),
    '',
    body,
  ].join('\r\n')
