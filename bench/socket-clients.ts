/** A process with many clients of a socket server that do as little as they can: bare TCP, frames are only counted. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { maskedText, openBare } from './bare-socket.ts'
import type { ClientOrder, ClientReport } from './socket-processes.ts'

const AT_ONCE = 100

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

const open = async (port: number, token: string): Promise<void> => {
  const closed = (): never => {
    throw new Error('the server closed a socket')
  }
  sockets.push(await openBare(port, `/ws/live?token=${token}`, { text: count, closed }))
}

const AUDIO = Buffer.alloc(3200)
for (let i = 0; i < AUDIO.length; i += 2) AUDIO.writeInt16LE(Math.round(3000 * Math.sin(i / 9)), i)

const send = async (text: string, times: number): Promise<void> => {
  const [socket] = sockets
  if (socket === undefined) throw new Error('no socket is open')
  const frame = maskedText(text)
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
