import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../../application/ports/environment.ts'
import type { TranscriptFrame } from '../../../application/pipeline/signals.ts'
import type { MissedFinals } from '../../../application/sessions/missed-finals.ts'
import type { Broadcast } from '../broadcast.ts'
import type { Connection } from '../connection.ts'
import { errorEnding } from '../ends.ts'

interface CatchUpOptions {
  readonly missed: MissedFinals
  readonly connection: Connection
  readonly encode: (frame: TranscriptFrame) => Broadcast
  /** Begins to listen, or ends the socket; `ahead`: what it has that may be told yet. */
  readonly join: (ahead: ReadonlySet<string>) => void
  readonly isGone: () => boolean
  readonly logger: Logger
}

/** Sends and waits until the last frame left this process, so that a long past does not pile up in memory. */
const sendAll = (connection: Connection, frames: ReadonlyArray<Broadcast>): Promise<void> =>
  new Promise((resolve) => {
    if (frames.length === 0) resolve()
    frames.forEach((frame, index) => connection.broadcast(frame, index === frames.length - 1 ? () => resolve() : undefined))
  })

/** Tells a socket what it missed (D58), page by page, then lets it join. */
export const catchUp = async ({ missed, connection, encode, join, isGone, logger }: CatchUpOptions): Promise<void> => {
  try {
    for (;;) {
      const page = await missed.next()
      if (isGone()) return
      // It may come back with what it has by now.
      if (E.isLeft(page)) return connection.end(errorEnding('server_restart'))
      if (page.right !== null) {
        await sendAll(connection, page.right.map(encode))
        if (isGone()) return
        continue
      }
      // In one tick: nothing can be told in between.
      const rest = missed.rest()
      if (rest === null) continue
      for (const frame of rest) connection.broadcast(encode(frame))
      return join(missed.ahead())
    }
  } catch (error) {
    logger.error({ error: String(error) }, 'a socket could not be told what it missed')
    connection.end(errorEnding('server_restart'))
  }
}
