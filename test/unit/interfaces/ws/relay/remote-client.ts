import * as E from 'fp-ts/lib/Either.js'
import type { Timers } from '../../../../../application/ports/timers.ts'
import type { Environment } from '../../../../../application/ports/environment.ts'
import type { Connection } from '../../../../../interfaces/ws/connection.ts'
import type { Incoming } from '../../../../../interfaces/ws/incoming.ts'
import type { Hub } from '../../../../../interfaces/ws/listeners/caption-hub.ts'
import type { PlaceSender } from '../../../../../interfaces/ws/senders/sender-placement.ts'

interface RemoteClientOptions {
  readonly hub: Hub
  readonly place: PlaceSender
  readonly shared: {
    readonly environment: Pick<Environment, 'monotonic'>
    readonly timers: Timers
    readonly rateLimits: boolean
    readonly idleTimeout: number
  }
  readonly liveId: number
}

type Frame = string | Uint8Array

/** Creates a sender with a socket. While the process does not read, sent frames wait, as in TCP. */
export const createRemoteClient = ({ hub, place, shared, liveId }: RemoteClientOptions) => {
  const received: string[] = []
  const finals: string[] = []
  let waiting: Frame[] = []
  let [isPaused, isGone] = [false, false]
  let ending: string | null = null
  let refusal: string | null = null
  let incoming: Incoming | null = null

  /** Removes and returns the next frame, or undefined while the process does not read. */
  const next = (): Frame | undefined => (isPaused || isGone || incoming === null ? undefined : waiting.splice(0, 1)[0])

  const flush = (): void => {
    for (let frame = next(); frame !== undefined; frame = next()) {
      if (typeof frame === 'string') incoming?.text(frame)
      else incoming?.binary(frame)
    }
  }

  const leaveSocket = (isClean: boolean): void => {
    if (isGone) return
    isGone = true
    hub.leave(liveId, member)
    incoming?.closed(isClean)
  }

  const receive = (text: string): void => {
    const frame = JSON.parse(text) as { readonly type?: string; readonly final?: boolean; readonly text?: string }
    if (frame.type !== 'transcription') received.push(text)
    else if (frame.final === true) finals.push(frame.text ?? '')
  }

  const connection: Connection = {
    send: receive,
    broadcast: ({ text }, taken) => {
      receive(text)
      taken?.()
    },
    end: ({ reason, close }) => {
      ending ??= reason === '' ? String(close) : reason
      setImmediate(() => leaveSocket(true))
    },
    drop: () => leaveSocket(false),
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
      setImmediate(flush)
    },
    isPaused: () => isPaused,
    buffered: () => 0,
  }
  const member = { role: 'sender' as const, connection }

  const joining = place(liveId).then((placed) => {
    if (E.isLeft(placed)) {
      refusal = placed.left
      return
    }
    hub.join(liveId, member)
    incoming = placed.right.serve({ ...shared, connection })
    flush()
  })

  return {
    joining, received, finals,
    send: (...frames: ReadonlyArray<Frame>): void => {
      waiting = [...waiting, ...frames]
      flush()
    },
    waiting: () => waiting.length,
    isPaused: () => isPaused,
    ending: () => ending,
    refusal: () => refusal,
    isGone: () => isGone,
    /** Closes the socket cleanly, or breaks it. */
    leave: (isClean: boolean): void => leaveSocket(isClean),
  }
}

export type RemoteClient = ReturnType<typeof createRemoteClient>
