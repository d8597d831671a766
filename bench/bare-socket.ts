/** WebSocket clients that do as little as they can: bare TCP, small frames, read where they lie. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

const FINAL_TEXT = 0x81
const CLOSE = 0x88
const PING = 0x89
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
/** Of a connection that broke off. */
const BROKEN_OFF = 1006

interface Heard {
  readonly text: (payload: Buffer) => void
  /** The code of the server's close frame, 1006 without one. */
  readonly closed: (code: number) => void
}

/** A frame of a client, with a mask of its own choice. */
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

/** Text of at most 65,535 bytes. */
export const maskedText = (text: string): Buffer => masked(FINAL_TEXT, Buffer.from(text))

/** Bytes of the header and of the payload of the frame at `at`; null while its header is not whole. */
const sizeOf = (bytes: Buffer, at: number): readonly [number, number] | null => {
  if (bytes.length < at + 2) return null
  const short = bytes.readUInt8(at + 1)
  if (short < 126) return [2, short]
  return bytes.length < at + 4 ? null : [4, bytes.readUInt16BE(at + 2)]
}

const serve = (socket: Socket, begun: Buffer, { text, closed }: Heard): void => {
  let held = begun
  let code = BROKEN_OFF
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
    for (let size = sizeOf(bytes, at); size !== null && bytes.length >= at + size[0] + size[1]; size = sizeOf(bytes, at)) {
      take(bytes.readUInt8(at), bytes.subarray(at + size[0], at + size[0] + size[1]))
      at += size[0] + size[1]
    }
    held = bytes.subarray(at)
  }
  read(Buffer.alloc(0))
  socket.on('data', read)
  socket.once('close', () => closed(code))
}

/** Opens `path` on 127.0.0.1; rejects when it is not answered with 101. */
export const openBare = (port: number, path: string, heard: Heard): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    let answer = Buffer.alloc(0)
    const onClose = (): void => reject(new Error('the connection broke off before its handshake was answered'))
    const onData = (chunk: Buffer): void => {
      answer = Buffer.concat([answer, chunk])
      const end = answer.indexOf('\r\n\r\n')
      if (end === -1) return
      socket.off('data', onData).off('close', onClose)
      if (!answer.toString('latin1', 0, 12).startsWith('HTTP/1.1 101')) {
        socket.destroy()
        return reject(new Error(answer.toString()))
      }
      serve(socket, answer.subarray(end + 4), heard)
      resolve(socket)
    }
    // 'close' follows.
    socket.on('error', () => undefined).on('data', onData).once('close', onClose)
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
  })
