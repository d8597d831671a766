import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Broadcast } from './broadcast.ts'
import type { Ending } from './ends.ts'

/** What the protocol's state machines may do with their socket. */
export interface Connection {
  readonly send: (frame: string) => void
  /** `taken` is called once the operating system has it, or nobody ever will. */
  readonly broadcast: (frame: Broadcast, taken?: () => void) => void
  /** The last frame and the close handshake; nothing is sent after it. */
  readonly end: (ending: Ending) => void
  /** The peer is gone or not worth a word. */
  readonly drop: () => void
  /** Stops reading: TCP holds the sender back. */
  readonly pause: () => void
  readonly resume: () => void
  readonly isPaused: () => boolean
  /** Bytes that the peer has not taken yet. */
  readonly buffered: () => number
}

/**
 * A socket as the protocol sees it; `reading` hears when we stop and begin to read. `wire` is what it runs on: without
 * compression the library writes every frame at once, so a frame made beforehand can be written in between.
 */
export const connect = (socket: WebSocket, wire: Duplex, reading: (paused: boolean) => void): Connection => {
  let ended = false

  const resume = (): void => {
    if (!socket.isPaused) return
    socket.resume()
    reading(false)
  }

  return {
    send: (frame) => {
      if (!ended && socket.readyState === socket.OPEN) socket.send(frame)
    },
    broadcast: ({ framed }, taken) => {
      if (!ended && socket.readyState === socket.OPEN) wire.write(framed, taken)
      else taken?.()
    },
    end: ({ frame, close, reason }) => {
      if (ended) return
      ended = true
      if (socket.readyState !== socket.OPEN) return
      socket.send(frame)
      socket.close(close, reason)
      // The peer's answer to the close frame has to be read.
      resume()
    },
    drop: () => {
      ended = true
      socket.terminate()
    },
    pause: () => {
      if (ended || socket.isPaused) return
      socket.pause()
      reading(true)
    },
    resume,
    isPaused: () => socket.isPaused,
    buffered: () => wire.writableLength,
  }
}
