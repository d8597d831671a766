/** A process with many minimal clients of a socket server. They use plain TCP and only count frames. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { maskedText, openBare } from './bare-socket.ts'
import type { ClientOrder, ClientReport } from './socket-processes.ts'

const CONCURRENT_OPENS = 100

const sockets: Array<Socket> = []
/** Frames received by all sockets, and by the sockets that are read immediately. */
let [frames, sampled] = [0, 0]
let expected = { frames: Infinity, sampled: Infinity }
/** Milliseconds from the due time to the arrival of captions, at the sockets that are read immediately. */
let lags: Array<number> = []
/**
 * Every n-th socket is read immediately. The operating system keeps the captions of the other sockets until the sockets
 * that are read immediately have all their captions.
 */
let every = 1

const sendReport = (report: ClientReport): void => void process.send?.(report)

const reportProgress = (): void => {
  if (sampled === expected.sampled) {
    expected = { ...expected, sampled: Infinity }
    const sorted = Float64Array.from(lags).sort()
    sendReport({ kind: 'delivered', p99: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? 0 })
    for (const socket of sockets) socket.resume()
  }
  if (frames === expected.frames) sendReport({ kind: 'drained' })
}

const counter = (index: number) => (payload: Buffer): void => {
  const at = payload.indexOf('@')
  if (at === -1) return
  frames += 1
  if (index % every === 0) {
    lags.push(
      performance.timeOrigin + performance.now() - Number.parseFloat(payload.toString('latin1', at + 1, at + 19)),
    )
    sampled += 1
  }
  reportProgress()
}

const open = async (port: number, token: string, index: number): Promise<void> => {
  const closed = (): never => {
    throw new Error('the server closed a socket')
  }
  sockets.push(await openBare(port, `/ws/live?token=${token}`, { text: counter(index), closed }))
}

const AUDIO = Buffer.alloc(3200)
for (let i = 0; i < AUDIO.length; i += 2) AUDIO.writeInt16LE(Math.round(3000 * Math.sin(i / 9)), i)

const send = async (text: string, times: number): Promise<void> => {
  const [socket] = sockets
  if (socket === undefined) throw new Error('no socket is open')
  const frame = maskedText(text)
  for (let sent = 0; sent < times; sent += 1) if (!socket.write(frame)) await once(socket, 'drain')
}

const execute = async (order: ClientOrder): Promise<void> => {
  switch (order.kind) {
    case 'open':
      for (let index = 0; index < order.count; index += CONCURRENT_OPENS)
        await Promise.all(
          Array.from(
            { length: Math.min(CONCURRENT_OPENS, order.count - index) },
            (_, i) => open(order.port, order.token, index + i),
          ),
        )
      return sendReport({ kind: 'opened' })
    case 'expect':
      ;[frames, sampled, lags, every] = [0, 0, [], order.every]
      expected = { frames: order.frames * sockets.length, sampled: order.frames * Math.ceil(sockets.length / every) }
      sockets.forEach((socket, index) => index % every !== 0 && socket.pause())
      return sendReport({ kind: 'ready' })
    case 'speak':
      await send(JSON.stringify({ type: 'config' }), 1)
      await send(JSON.stringify({ type: 'audio', data: AUDIO.toString('base64') }), order.frames)
      return sendReport({ kind: 'spoken' })
  }
}

process.on('message', (order: ClientOrder) => void execute(order))
process.once('disconnect', () => process.exit())
sendReport({ kind: 'ready' })
