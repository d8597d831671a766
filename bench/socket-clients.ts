/** A process with many clients of a socket server that do as little as they can: bare TCP, frames are only counted. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { ClientOrder, ClientReport } from './socket-processes.ts'

const AT_ONCE = 100
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])
const FINAL_TEXT = 0x81
const PING = 0x89

const sockets: Array<Socket> = []
let frames = 0
let expected = Infinity
/** Milliseconds from sending to arrival, of captions that tell when they were sent. */
let lags: Array<number> = []
let delivered: () => void = () => undefined

const tell = (report: ClientReport): void => void process.send?.(report)

const count = (payload: Buffer): void => {
  const at = payload.indexOf('@')
  if (at === -1) return
  lags.push(performance.timeOrigin + performance.now() - Number.parseFloat(payload.toString('latin1', at + 1, at + 19)))
  frames += 1
  if (frames === expected) delivered()
}

/** Bytes of the header and of the payload of the frame at `at`; null while its header is not whole. */
const sizeOf = (bytes: Buffer, at: number): readonly [number, number] | null => {
  if (bytes.length < at + 2) return null
  const short = bytes.readUInt8(at + 1)
  if (short < 126) return [2, short]
  return bytes.length < at + 4 ? null : [4, bytes.readUInt16BE(at + 2)]
}

const listen = (socket: Socket, begun: Buffer): void => {
  let held = begun
  const read = (chunk: Buffer): void => {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let at = 0
    for (let size = sizeOf(bytes, at); size !== null && bytes.length >= at + size[0] + size[1]; size = sizeOf(bytes, at)) {
      const kind = bytes.readUInt8(at)
      if (kind === PING) socket.write(PONG)
      if (kind === FINAL_TEXT) count(bytes.subarray(at + size[0], at + size[0] + size[1]))
      at += size[0] + size[1]
    }
    held = bytes.subarray(at)
  }
  read(Buffer.alloc(0))
  socket.on('data', read)
}

const open = async (port: number, token: string): Promise<void> => {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  await once(socket, 'connect')
  socket.write(
    `GET /ws/live?token=${token} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  let answer = Buffer.alloc(0)
  while (!answer.includes('\r\n\r\n')) {
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    answer = Buffer.concat([answer, chunk])
  }
  if (!answer.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(answer.toString())
  socket.on('error', (error) => { throw error })
  socket.on('close', () => { throw new Error('the server closed a socket') })
  listen(socket, answer.subarray(answer.indexOf('\r\n\r\n') + 4))
  sockets.push(socket)
}

/** A text frame of a client. */
const masked = (text: string): Buffer => {
  const payload = Buffer.from(text)
  const header = Buffer.alloc(payload.length < 126 ? 6 : 8)
  header.writeUInt8(FINAL_TEXT, 0)
  if (payload.length < 126) header.writeUInt8(0x80 + payload.length, 1)
  else {
    header.writeUInt8(0x80 + 126, 1)
    header.writeUInt16BE(payload.length, 2)
  }
  header.writeUInt32BE(0x01020304, header.length - 4)
  for (let i = 0; i < payload.length; i += 1) payload.writeUInt8(payload.readUInt8(i) ^ ((i % 4) + 1), i)
  return Buffer.concat([header, payload])
}

const AUDIO = Buffer.alloc(3200)
for (let i = 0; i < AUDIO.length; i += 2) AUDIO.writeInt16LE(Math.round(3000 * Math.sin(i / 9)), i)

const send = async (text: string, times: number): Promise<void> => {
  const [socket] = sockets
  if (socket === undefined) throw new Error('no socket is open')
  const frame = masked(text)
  for (let sent = 0; sent < times; sent += 1) if (!socket.write(frame)) await once(socket, 'drain')
}

const obey = async (order: ClientOrder): Promise<void> => {
  switch (order.kind) {
    case 'open':
      for (let left = order.count; left > 0; left -= AT_ONCE)
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, () => open(order.port, order.token)))
      return tell({ kind: 'opened' })
    case 'expect':
      frames = 0
      lags = []
      expected = order.frames
      delivered = () => {
        const sorted = Float64Array.from(lags).sort()
        tell({ kind: 'delivered', p99: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? 0 })
      }
      return tell({ kind: 'ready' })
    case 'speak':
      await send(JSON.stringify({ type: 'config' }), 1)
      await send(JSON.stringify({ type: 'audio', data: AUDIO.toString('base64') }), order.frames)
      return tell({ kind: 'spoken' })
  }
}

process.on('message', (order: ClientOrder) => void obey(order))
process.once('disconnect', () => process.exit())
tell({ kind: 'ready' })
