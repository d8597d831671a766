import * as E from 'fp-ts/lib/Either.js'
import { errorEnding } from '../ends.ts'
import { errorFrame, PONG } from '../frames.ts'
import type { Incoming, IncomingOptions } from '../incoming.ts'
import { createBadFrameCounter, createControlLimit } from '../limits.ts'
import { parseFrame } from '../protocol.ts'

/** Forbidden frames that a listener may send. The fourth one ends the connection. */
const MAX_FORBIDDEN_FRAMES = 3

/** Creates the protocol of a listener. A listener may only ping. */
export const createListener = ({ connection, environment, rateLimits }: IncomingOptions): Incoming => {
  const hasTooManyBadFrames = createBadFrameCounter()
  const isControlLimitReached = createControlLimit(environment.monotonic, rateLimits)
  let forbiddenFrames = 0
  let isOpen = true

  const disconnect = (code: 'forbidden' | 'invalid_message' | 'rate_limited'): void => {
    isOpen = false
    connection.end(errorEnding(code))
  }

  const forbid = (): void => {
    forbiddenFrames += 1
    if (forbiddenFrames > MAX_FORBIDDEN_FRAMES) disconnect('forbidden')
    else connection.send(errorFrame('forbidden'))
  }

  /** True when a frame must be ignored. Counts the frame, and disconnects above the limit. */
  const isLimited = (): boolean => {
    if (!isOpen) return true
    if (!isControlLimitReached()) return false
    disconnect('rate_limited')
    return true
  }

  const refuse = (): void => {
    if (hasTooManyBadFrames('invalid_message')) disconnect('invalid_message')
    else connection.send(errorFrame('invalid_message'))
  }

  return {
    text: (text) => {
      if (isLimited()) return
      const frame = parseFrame(text)
      if (E.isLeft(frame)) refuse()
      else if (frame.right.type === 'ping') connection.send(PONG)
      else forbid()
    },
    binary: () => {
      if (!isLimited()) forbid()
    },
    ping: () => {
      isLimited()
    },
    closed: () => {
      isOpen = false
    },
  }
}
