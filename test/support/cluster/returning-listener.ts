import { openLiveSocket } from '../../../interfaces/client/live-socket.ts'
import type { LiveJson } from '../service/client.ts'

/** A listener that reconnects as the client module does. */
export interface ReturningListener {
  /** The times at which text arrived, final or not, by `performance.now`. */
  readonly times: () => ReadonlyArray<number>
  readonly stop: () => void
}

/** Listens at `url`, which may lead to another process at each connection. */
export const returnTo = (url: string, live: LiveJson): ReturningListener => {
  const times: Array<number> = []
  let cursor: number | null = null
  const socket = openLiveSocket({
    url: `${url.replace(/^http/, 'ws')}${live.relative_path}`,
    token: live.listener_token,
    cursor: () => cursor,
    isReady: async () => false,
    onFrame: (frame) => {
      if (frame.type !== 'transcription') return
      times.push(performance.now())
      if (frame.final === true) cursor = Math.max(cursor ?? 0, frame.segment ?? 0)
    },
    onState: () => undefined,
  })
  return { times: () => times, stop: socket.close }
}
