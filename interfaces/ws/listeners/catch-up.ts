import * as E from 'fp-ts/lib/Either.js'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { MissedFinals } from '../../../application/running/missed-finals.ts'
import type { Broadcast } from '../encoded-frame.ts'
import type { Connection } from '../connection.ts'
import { errorEnding } from '../ends.ts'

interface CatchUpOptions {
  readonly missed: MissedFinals
  readonly connection: Connection
  readonly encode: (frame: TranscriptFrame) => Broadcast
  /** Joins the hub, or ends the socket. `sentAhead`: keys of sent finals that the hub may still publish. */
  readonly join: (sentAhead: ReadonlySet<string>) => void
  readonly isClosed: () => boolean
  readonly logger: Logger
}

/** Resolves when the last frame has left this process, so a long transcript does not fill memory. */
const sendAll = (connection: Connection, frames: ReadonlyArray<Broadcast>): Promise<void> =>
  new Promise((resolve) => {
    if (frames.length === 0) resolve()
    const lastIndex = frames.length - 1
    frames.forEach((frame, index) => connection.broadcast(frame, index === lastIndex ? () => resolve() : undefined))
  })

/** Sends the missed finals (final segments) page by page. Then joins the hub, which sends new text to the sockets. */
export const catchUp = async (options: CatchUpOptions): Promise<void> => {
  const { missed, connection, encode, join, isClosed, logger } = options
  try {
    for (;;) {
      const page = await missed.next()
      if (isClosed()) return
      // The client can reconnect and continue after the last final that it got.
      if (E.isLeft(page)) return connection.end(errorEnding('server_restart'))
      if (page.right !== null) {
        await sendAll(connection, page.right.map(encode))
        if (isClosed()) return
        continue
      }
      // The remaining finals are sent in the tick of the join, so no final can be published in between.
      const rest = missed.rest()
      if (rest === null) continue
      for (const frame of rest) connection.broadcast(encode(frame))
      return join(missed.ahead())
    }
  } catch (error) {
    logger.error({ error: String(error) }, 'missed finals could not be sent')
    connection.end(errorEnding('server_restart'))
  }
}
