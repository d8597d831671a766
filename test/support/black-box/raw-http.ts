import { connect, type Socket } from 'node:net'

/** An HTTP answer. */
export interface RawAnswer {
  readonly status: number
  /** The names are in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const parse = (text: string): RawAnswer | null => {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...lines] = text.slice(0, end).split('\r\n')
  const pairs = lines.map((header): [string, string] => {
    const colon = header.indexOf(':')
    return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()]
  })
  const headers = new Map(pairs)
  const length = Number(headers.get('content-length') ?? 0)
  const body = text.slice(end + 4)
  const isChunked = headers.get('transfer-encoding') !== undefined
  const isComplete = isChunked ? body.includes('\r\n0\r\n\r\n') : body.length >= length
  if (!isComplete) return null
  return { status: Number(line.split(' ')[1]), headers, body }
}

/** Opens a TCP connection. `from`: the local loopback address. */
export const dial = (url: string, from?: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const local = from === undefined ? {} : { localAddress: from }
    const socket = connect({ host: hostname, port: Number(port), ...local })
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

/** Sends bytes on a new connection and reads one answer. Rejects when the connection ends before a complete answer. */
export const ask = async (url: string, request: string, from?: string): Promise<RawAnswer> => {
  const socket = await dial(url, from)
  return new Promise((resolve, reject) => {
    let text = ''
    const finish = (): void => {
      const answer = parse(text)
      if (answer === null) reject(new Error(`incomplete answer: ${JSON.stringify(text.slice(0, 200))}`))
      else resolve(answer)
      socket.destroy()
    }
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      if (parse(text) !== null) finish()
    })
    socket.once('close', finish)
    socket.on('error', () => undefined)
    socket.setTimeout(30_000, finish)
    socket.write(request)
  })
}

/** The text of an HTTP/1.1 request, with Host and Content-Length. */
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
