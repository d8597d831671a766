/** Minimal WebSocket clients over plain TCP, so the client costs little CPU time. They support only small frames. */
import { connect, type Socket } from 'node:net'

const FINAL_TEXT = 0x81
const CLOSE = 0x88
const PING = 0x89
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
/** Close code of a connection without a close frame. */
const NO_CLOSE_FRAME = 1006

interface Listener {
  readonly text: (payload: Buffer) => void
  /** Receives the code of the server's close frame, or 1006 without a close frame. */
  readonly closed: (code: number) => void
}

/** Builds a client frame. The mask is fixed, because the benchmark needs no randomness. */
const masked = (kind: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(payload.length < 126 ? 6 : 8)
  header.writeUInt8(kind, 0)
  if (payload.length < 126) header.writeUInt8(0x80 + payload.length, 1)
  else {
    header.writeUInt8(0x80 + 126, 1)
    header.writeUInt16BE(payload.length, 2)
  }
  header.writeUInt32BE(0x01020304, header.length - 4)
  return Buffer.concat([header, payload.map((byte, at) => byte ^ ((at % 4) + 1))])
}

/** Builds a text frame of at most 65,535 bytes. */
export const maskedText = (text: string): Buffer => masked(FINAL_TEXT, Buffer.from(text))

/** Returns the byte lengths of header and payload of the frame at `at`; null while the header is incomplete. */
const sizeOf = (bytes: Buffer, at: number): readonly [number, number] | null => {
  if (bytes.length < at + 2) return null
  const short = bytes.readUInt8(at + 1)
  if (short < 126) return [2, short]
  return bytes.length < at + 4 ? null : [4, bytes.readUInt16BE(at + 2)]
}

/** Reads the frames of a socket. `firstBytes` arrived together with the handshake response. */
const serve = (socket: Socket, firstBytes: Buffer, { text, closed }: Listener): void => {
  let held = firstBytes
  let code = NO_CLOSE_FRAME
  const take = (kind: number, payload: Buffer): void => {
    if (kind === FINAL_TEXT) text(payload)
    if (kind === PING) socket.write(PONG)
    if (kind !== CLOSE) return
    code = payload.readUInt16BE(0)
    socket.end(masked(CLOSE, payload.subarray(0, 2)))
  }
  const read = (chunk: Buffer): void => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let at = 0
    const nextSize = () => sizeOf(bytes, at)
    for (let size = nextSize(); size !== null && bytes.length >= at + size[0] + size[1]; size = nextSize()) {
      take(bytes.readUInt8(at), bytes.subarray(at + size[0], at + size[0] + size[1]))
      at += size[0] + size[1]
    }
    held = bytes.subarray(at)
  }
  read(Buffer.alloc(0))
  socket.on('data', read)
  socket.once('close', () => closed(code))
}

/** Opens `path` on 127.0.0.1. Rejects when the response is not 101. */
export const openBare = (port: number, path: string, listener: Listener): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    let answer = Buffer.alloc(0)
    const onClose = (): void => reject(new Error('the connection closed before the handshake response'))
    const onData = (chunk: Buffer): void => {
      answer = Buffer.concat([answer, chunk])
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1) return
      socket.off('data', onData).off('close', onClose)
      if (!answer.toString('latin1', 0, 12).startsWith('HTTP/1.1 101')) {
        socket.destroy()
        return reject(new Error(answer.toString()))
      }
      serve(socket, answer.subarray(end + 4), listener)
      resolve(socket)
    }
    // The event 'close' follows an error and rejects the promise.
    socket.on('error', () => undefined).on('data', onData).once('close', onClose)
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
  })
