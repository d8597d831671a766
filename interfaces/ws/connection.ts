import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Broadcast } from './encoded-frame.ts'
import type { Ending } from './ends.ts'

/** A WebSocket with the operations that the protocols of senders and listeners need. */
export interface Connection {
  readonly send: (frame: string) => void
  /** `onWritten` is called when the operating system has the frame, or when the connection has ended. */
  readonly broadcast: (frame: Broadcast, onWritten?: () => void) => void
  /** Sends the last frame and closes the connection. Later frames are dropped. */
  readonly end: (ending: Ending) => void
  /** Closes the connection without a close frame. */
  readonly drop: () => void
  /** Stops reading, so TCP slows the sender down. */
  readonly pause: () => void
  readonly resume: () => void
  readonly isPaused: () => boolean
  /** Bytes that the operating system has not taken yet. */
  readonly buffered: () => number
}

/**
 * Wraps a WebSocket. `onPaused` is called when reading stops (true) and continues (false). `wire` is the underlying
 * stream: without compression the library writes each frame at once, so encoded frames can be written in between.
 */
export const connect = (socket: WebSocket, wire: Duplex, onPaused: (isPaused: boolean) => void): Connection => {
  let hasEnded = false

  const resume = (): void => {
    if (!socket.isPaused) return
    socket.resume()
    onPaused(false)
  }

  return {
    send: (frame) => {
      if (!hasEnded && socket.readyState === socket.OPEN) socket.send(frame)
    },
    broadcast: ({ framed }, onWritten) => {
      if (!hasEnded && socket.readyState === socket.OPEN) wire.write(framed, onWritten)
      else onWritten?.()
    },
    end: ({ frame, close, reason }) => {
      if (hasEnded) return
      hasEnded = true
      if (socket.readyState !== socket.OPEN) return
      socket.send(frame)
      socket.close(close, reason)
      // Reading must continue for the close frame of the peer.
      resume()
    },
    drop: () => {
      hasEnded = true
      socket.terminate()
    },
    pause: () => {
      if (hasEnded || socket.isPaused) return
      socket.pause()
      onPaused(true)
    },
    resume,
    isPaused: () => socket.isPaused,
    buffered: () => wire.writableLength,
  }
}
