import type { Server as HttpServer } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

/** The first bytes of an HTTP/2 connection without TLS. */
const PREFACE = 'PRI'

export interface Protocols {
  readonly http2: (socket: Socket) => void
  readonly http1: HttpServer
  /** Key and certificate (PEM); null: no TLS. */
  readonly tls: { readonly key: string; readonly certificate: string } | null
}

/** Creates a listener for HTTP/2 and HTTP/1.1 on one port, like the real server. */
export const createListener = ({ http2, http1, tls }: Protocols): Server => {
  if (tls !== null)
    return createTlsServer({ key: tls.key, cert: tls.certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      if (socket.alpnProtocol === 'h2') http2(socket)
      else http1.emit('connection', socket)
    })
  return createServer((socket) => {
    socket.once('data', (first: Buffer) => {
      socket.pause()
      socket.unshift(first)
      if (first.toString('latin1', 0, PREFACE.length) === PREFACE) http2(socket)
      else http1.emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
}
