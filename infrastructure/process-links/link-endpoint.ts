import type { RawData, WebSocket } from 'ws'
import type { FromWorker, ToWorker } from '../../application/ports/live-links.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { afterTimeout } from '../../application/waiting.ts'
import { type Decoded, encode, type Frame, MAX_MESSAGE_BYTES } from './messages.ts'

const PING_EVERY_MS = 2000
/** A peer that sends nothing for this time after a ping counts as lost. */
const PING_TIMEOUT_MS = 2000
/** WebSocket options of both endpoints. `closeTimeout`: milliseconds for the last frames after a close. */
export const SOCKET_OPTIONS = { perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES, closeTimeout: 4000 } as const
/** When more bytes wait for a slow peer, the next message cuts the link. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024

const NORMAL_CLOSURE = 1000
const ABNORMAL_CLOSURE = 1006
const POLICY_VIOLATION = 1008
/** Longest reason of a WebSocket close frame. */
const MAX_REASON_BYTES = 123

/** One side of a link. A link connects two processes: one has sockets of a session, the other runs the session. */
interface LinkEndpoint<Out> {
  readonly send: (message: Out) => void
  readonly buffered: () => number
  readonly close: () => void
  /** Closes the link at once, without a close frame. */
  readonly cut: (why: string) => void
}

interface LinkEndpointOptions<In> {
  readonly socket: WebSocket
  /** Name of the other process, for messages. */
  readonly peer: string
  readonly decode: (frame: Frame) => Decoded<In>
  readonly message: (message: In) => void
  /** Called once, after the last message. */
  readonly closed: (why: string) => void
  /** Called for a message of an unknown kind, which is ignored. */
  readonly unknown: (kind: string) => void
  readonly timers: Timers
}

const frameOf = (data: RawData, isBinary: boolean): Frame => {
  const bytes = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
  return isBinary ? bytes : bytes.toString()
}

const sizeOf = (frame: Frame): number => (typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength)

/** Truncates a reason. A character that is cut in half becomes a replacement character with up to three more bytes. */
const reasonOf = (why: string): string => Buffer.from(why).subarray(0, MAX_REASON_BYTES - 3).toString()

/** Pings the peer every 2 s and calls `lost` when no frame arrives within 2 s. Returns a function that stops this. */
const watch = (socket: WebSocket, timers: Timers, lost: () => void): (() => void) => {
  let awaitsFrame = false
  let cancelWait = (): void => undefined
  let cancelPing = (): void => undefined
  const onFrame = (): void => {
    awaitsFrame = false
    cancelWait()
  }
  const ping = (): void => {
    cancelPing = timers.after(PING_EVERY_MS, ping)
    if (awaitsFrame || socket.readyState !== socket.OPEN) return
    awaitsFrame = true
    socket.ping()
    cancelWait = afterTimeout(timers, PING_TIMEOUT_MS, lost)
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, onFrame)
  cancelPing = timers.after(PING_EVERY_MS, ping)
  return () => {
    cancelPing()
    cancelWait()
  }
}

/** Creates one side of a link. It keeps messages in order, limits their size, sends pings and reports a close once. */
export const createLinkEndpoint = <In, Out extends ToWorker | FromWorker>(
  options: LinkEndpointOptions<In>,
): LinkEndpoint<Out> => {
  const { socket, peer, decode, timers } = options
  let waiting: Array<Frame> = []
  let waitingBytes = 0
  /** Why this side closed the link; null while it has not. */
  let why: string | null = null
  let error: string | null = null
  let stopWatching = (): void => undefined

  const cut = (reason: string): void => {
    why ??= reason
    socket.terminate()
  }

  const closeWith = (code: number, reason: string): void => {
    why ??= reason
    const close = (): void => socket.close(code, reasonOf(reason))
    // If the link is not open yet, it opens first and sends the waiting messages. Then it closes.
    if (socket.readyState === socket.CONNECTING) socket.once('open', close)
    else close()
  }

  const receive = (data: RawData, isBinary: boolean): void => {
    if (why !== null) return
    const decoded = decode(frameOf(data, isBinary))
    switch (decoded._tag) {
      case 'message':
        return options.message(decoded.message)
      case 'unknown':
        return options.unknown(decoded.kind)
      case 'malformed':
        return closeWith(POLICY_VIOLATION, `${peer} sent ${decoded.why}`)
    }
  }

  const begin = (): void => {
    for (const frame of waiting) socket.send(frame)
    waiting = []
    waitingBytes = 0
    stopWatching = watch(socket, timers, () => cut(`${peer} does not answer`))
  }

  const buffered = (): number => waitingBytes + socket.bufferedAmount

  socket.on('message', receive)
  socket.on('error', (cause) => {
    error ??= cause.message
  })
  socket.once('close', (code, reason) => {
    stopWatching()
    const isBroken = code === ABNORMAL_CLOSURE
    const peerClosed = `${peer} closed the link: ${reason.toString() || code}`
    options.closed(why ?? (isBroken ? (error ?? 'the connection broke off') : peerClosed))
  })
  if (socket.readyState === socket.CONNECTING) socket.once('open', begin)
  else begin()

  return {
    send: (message) => {
      if (why !== null) return
      if (buffered() > MAX_BUFFERED_BYTES) return cut(`${peer} reads its messages too slowly`)
      const frame = encode(message)
      const size = sizeOf(frame)
      if (size > MAX_MESSAGE_BYTES)
        return closeWith(POLICY_VIOLATION, `a message of ${size} bytes is too long for a link`)
      if (socket.readyState !== socket.CONNECTING) return socket.send(frame)
      waiting.push(frame)
      waitingBytes += size
    },
    buffered,
    close: () => {
      if (why === null) closeWith(NORMAL_CLOSURE, 'closed here')
    },
    cut,
  }
}
