import * as E from 'fp-ts/lib/Either.js'
import { errorEnding } from '../ends.ts'
import { errorFrame, PONG } from '../frames.ts'
import { createBadFrameCounter, createControlLimit } from '../limits.ts'
import { parseFrame } from '../protocol.ts'
import type { Incoming, IncomingOptions } from '../senders/sender.ts'

/** R146: the fourth attempt to control closes. */
const ATTEMPTS = 3

/** The listener's protocol: it may ping, and nothing that it sends reaches the live. */
export const createListener = ({ connection, environment, rateLimits }: IncomingOptions): Incoming => {
  const isOneTooMany = createBadFrameCounter()
  const tooManyControls = createControlLimit(environment.monotonic, rateLimits)
  let attempts = 0
  let open = true

  const expel = (code: 'forbidden' | 'invalid_message' | 'rate_limited'): void => {
    open = false
    connection.end(errorEnding(code))
  }

  const forbid = (): void => {
    attempts += 1
    if (attempts > ATTEMPTS) expel('forbidden')
    else connection.send(errorFrame('forbidden'))
  }

  const limited = (): boolean => {
    if (!open) return true
    if (!tooManyControls()) return false
    expel('rate_limited')
    return true
  }

  const refuse = (): void => {
    if (isOneTooMany('invalid_message')) expel('invalid_message')
    else connection.send(errorFrame('invalid_message'))
  }

  return {
    text: (text) => {
      if (limited()) return
      const frame = parseFrame(text)
      if (E.isLeft(frame)) refuse()
      else if (frame.right.type === 'ping') connection.send(PONG)
      else forbid()
    },
    binary: () => {
      if (!limited()) forbid()
    },
    ping: () => {
      limited()
    },
    closed: () => {
      open = false
    },
  }
}
