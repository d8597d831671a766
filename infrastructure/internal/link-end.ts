import type { RawData, WebSocket } from 'ws'
import type { FromWorker, ToWorker } from '../../application/ports/peers/live-links.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { afterLastLook } from '../../application/waiting.ts'
import { encode, MAX_MESSAGE_BYTES } from './messages.ts'
import type { Decoded, Frame } from './messages.ts'

const PING_EVERY_MS = 2000
/** A peer that was asked and says nothing at all for so long is gone. */
const SILENCE_MS = 2000
/** What a WebSocket of a link has on either side; a link that is closed has so long for its last frames. */
export const SOCKET_OPTIONS = { perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES, closeTimeout: 4000 } as const
/** Bytes that may wait for a peer that does not read; the next message then ends the link. */
export const MAX_BUFFERED_BYTES = 8 * 1024 * 1024

const NORMAL = 1000
const BROKEN_OFF = 1006
const POLICY = 1008
/** Bytes that a close frame has for words. */
const MAX_REASON = 123

/** One end of a link, on either side. */
interface LinkEnd<Out> {
  readonly send: (message: Out) => void
  readonly buffered: () => number
  readonly close: () => void
  /** Ends it without a last word to the peer. */
  readonly cut: (why: string) => void
}

interface LinkEndOptions<In> {
  readonly socket: WebSocket
  /** For people: whom it leads to. */
  readonly peer: string
  readonly decode: (frame: Frame) => Decoded<In>
  readonly message: (message: In) => void
  /** Once, behind the last message. */
  readonly closed: (why: string) => void
  readonly unknown: (kind: string) => void
  readonly timers: Timers
}

const frameOf = (data: RawData, isBinary: boolean): Frame => {
  const bytes = Buffer.isBuffer(data) ? data : Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data)
  return isBinary ? bytes : bytes.toString()
}

const sizeOf = (frame: Frame): number => (typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength)

/** As much as fits; what stands for a character that was cut through takes three bytes. */
const reasonOf = (why: string): string => Buffer.from(why).subarray(0, MAX_REASON - 3).toString()

/** Asks the peer every 2 s whether it is there; `lost` when nothing at all was heard for 2 s after that. */
const watch = (socket: WebSocket, timers: Timers, lost: () => void): (() => void) => {
  let isAsked = false
  let cancelWait = (): void => undefined
  let cancelPing = (): void => undefined
  const heard = (): void => {
    isAsked = false
    cancelWait()
  }
  const ask = (): void => {
    cancelPing = timers.after(PING_EVERY_MS, ask)
    if (isAsked || socket.readyState !== socket.OPEN) return
    isAsked = true
    socket.ping()
    cancelWait = afterLastLook(timers, SILENCE_MS, lost)
  }
  for (const event of ['message', 'ping', 'pong'] as const) socket.on(event, heard)
  cancelPing = timers.after(PING_EVERY_MS, ask)
  return () => {
    cancelPing()
    cancelWait()
  }
}

/** What both ends of a link do alike: order, bounds, the watch over the peer, and one end. */
export const createLinkEnd = <In, Out extends ToWorker | FromWorker>(options: LinkEndOptions<In>): LinkEnd<Out> => {
  const { socket, peer, decode, timers } = options
  let waiting: Array<Frame> = []
  let waitingBytes = 0
  /** Why it is over, as we ended it; null while we have not. */
  let why: string | null = null
  let error: string | null = null
  let stopWatching = (): void => undefined

  const cut = (reason: string): void => {
    why ??= reason
    socket.terminate()
  }

  const endWith = (code: number, reason: string): void => {
    why ??= reason
    const end = (): void => socket.close(code, reasonOf(reason))
    // One that is not open yet is closed behind what waits for that.
    if (socket.readyState === socket.CONNECTING) socket.once('open', end)
    else end()
  }

  const take = (data: RawData, isBinary: boolean): void => {
    if (why !== null) return
    const decoded = decode(frameOf(data, isBinary))
    switch (decoded._tag) {
      case 'message':
        return options.message(decoded.message)
      case 'unknown':
        return options.unknown(decoded.kind)
      case 'malformed':
        return endWith(POLICY, `${peer} sent ${decoded.why}`)
    }
  }

  const begin = (): void => {
    for (const frame of waiting) socket.send(frame)
    waiting = []
    waitingBytes = 0
    stopWatching = watch(socket, timers, () => cut(`${peer} does not answer`))
  }

  const buffered = (): number => waitingBytes + socket.bufferedAmount

  socket.on('message', take)
  socket.on('error', (cause) => {
    error ??= cause.message
  })
  socket.once('close', (code, said) => {
    stopWatching()
    const broken = code === BROKEN_OFF ? (error ?? 'the connection broke off') : `${peer} closed the link: ${said.toString() || code}`
    options.closed(why ?? broken)
  })
  if (socket.readyState === socket.CONNECTING) socket.once('open', begin)
  else begin()

  return {
    send: (message) => {
      if (why !== null) return
      if (buffered() > MAX_BUFFERED_BYTES) return cut(`${peer} does not read what is sent to it`)
      const frame = encode(message)
      const size = sizeOf(frame)
      if (size > MAX_MESSAGE_BYTES) return endWith(POLICY, `a message of ${size} bytes is too long for a link`)
      if (socket.readyState !== socket.CONNECTING) return socket.send(frame)
      waiting.push(frame)
      waitingBytes += size
    },
    buffered,
    close: () => {
      if (why === null) endWith(NORMAL, 'closed here')
    },
    cut,
  }
}
