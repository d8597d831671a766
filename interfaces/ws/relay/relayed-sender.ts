import type { LiveLink, SenderRefusal } from '../../../application/ports/peers/live-links.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { afterRunning } from '../../../application/waiting.ts'
import type { RemoteSender, ToSender } from '../../../application/sessions/relay/remote-sender.ts'
import type { SenderFrame } from '../../../application/sessions/relay/unheard-audio.ts'
import type { Connection } from '../connection.ts'
import { errorEnding } from '../ends.ts'
import type { Ending } from '../ends.ts'
import type { Incoming } from '../incoming.ts'
import { createSentFrames } from './sent-frames.ts'

/** How long a handshake waits for the worker's answer. */
const PLACE_LIMIT = 5000
/** How long a socket is held for the next worker. */
const HOLD_LIMIT = 15_000
/** Before a worker that could not say is asked again. */
const ASK_AGAIN = 500
/** How long a full memory waits for the worker, which may be unable to store what it heard; then the oldest is let go. */
const FULL_PATIENCE = 5000

/** Why the handshake of a sender whose live runs elsewhere is refused, or its place. */
export type Asked = 'admitted' | SenderRefusal

/** The sender of a live that another process runs, at the process with its socket. */
export interface RelayedSender {
  /** For the links of its live. */
  readonly onLink: RemoteSender
  /** The answer to its first question. */
  readonly asked: Promise<Asked>
  readonly serve: (connection: Connection) => Incoming
  /** Its socket never opened. */
  readonly abandoned: () => void
}

export interface RelayedSenderOptions {
  readonly liveId: number
  /** Nobody else's. */
  readonly requestId: string
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn' | 'info'>
  /** It hears nothing of the live's links any more. */
  readonly leave: () => void
  /** Bytes of audio that are kept; 2 MiB unless told. */
  readonly mostKept?: number
}

/** `no`: nobody was asked, or the link is gone; `ending`: the worker takes nothing more, the live's end is awaited. */
type Place = 'no' | 'asked' | 'held' | 'ending'

export const createRelayedSender = (options: RelayedSenderOptions): RelayedSender => {
  const { liveId, requestId, timers, logger } = options
  const frames = createSentFrames((frame) => link?.send(frame), options.mostKept)
  const first = Promise.withResolvers<Asked>()
  let connection: Connection | null = null
  let link: Pick<LiveLink, 'send'> | null = null
  let place: Place = 'no'
  let [isAdmitted, isOver, isHeld, isOverfull] = [false, false, false, false]
  /** How its socket went, once it has. */
  let gone: 'clean' | 'broken' | null = null
  let cancelHold: (() => void) | null = null
  let cancelFull: (() => void) | null = null
  let cancelAsk: () => void = () => undefined

  const leave = (): void => {
    if (isOver) return
    isOver = true
    for (const cancel of [cancelHold, cancelFull, cancelAsk, cancelPlace]) cancel?.()
    first.resolve('unavailable')
    options.leave()
  }

  const cancelPlace = timers.after(PLACE_LIMIT, () => abandon())

  const abandon = (): void => {
    if (place === 'asked' || place === 'held') link?.send({ kind: 'gone', requestId, how: 'abandoned' })
    leave()
  }

  const endAs = (ending: Ending): void => {
    connection?.end(ending)
    leave()
  }

  /** Reads the socket while somebody takes what comes and there is room to keep it. */
  const read = (): void => {
    if (isOver) return
    const isAwaited = place === 'ending' || (place === 'held' && !isHeld)
    if (isAwaited && !frames.isFull()) connection?.resume()
    else connection?.pause()
  }

  const overfull = (): void => {
    cancelFull = null
    isOverfull = true
    logger.warn({ liveId }, 'more of a sender waits to be stored than is kept: if its worker is lost now, some is too')
    makeRoom()
  }

  const makeRoom = (): void => {
    if (isOverfull) frames.letGo()
    if (place === 'held' && frames.isFull() && !isOverfull) cancelFull ??= timers.after(FULL_PATIENCE, overfull)
    else stopWaiting()
    read()
  }

  const stopWaiting = (): void => {
    cancelFull?.()
    cancelFull = null
  }

  const hold = (): void => {
    // A process that stood still finds the next worker when it runs again: its sender has lost nothing.
    cancelHold ??= afterRunning(timers, HOLD_LIMIT, () => {
      logger.warn({ liveId }, 'no worker took a sender in time')
      endAs(errorEnding('server_restart'))
    })
  }

  const release = (): void => {
    cancelHold?.()
    cancelHold = null
  }

  const ask = (): void => {
    place = 'asked'
    link?.send({ kind: 'sender', requestId, from: isAdmitted ? frames.from() : null })
  }

  /** What was said before a clean close is seen to until the live has ended. */
  const sayGoodbye = (how: 'clean' | 'broken'): void => {
    link?.send({ kind: 'gone', requestId, how })
    if (how === 'broken' || frames.isEmpty()) leave()
  }

  /** What the worker before may not have turned into stored text. */
  const repeat = (): void => {
    frames.repeat()
    if (gone !== null) sayGoodbye(gone)
  }

  const admitted = (isOwn: boolean): void => {
    // The place is given once it is free: ours was given back, or somebody was faster when we came again.
    if (!isOwn) return isAdmitted ? endAs(errorEnding('sender_already_connected')) : undefined
    place = 'held'
    isHeld = false
    release()
    cancelPlace()
    if (isAdmitted) repeat()
    isAdmitted = true
    first.resolve('admitted')
    makeRoom()
  }

  const refused = (why: SenderRefusal): void => {
    place = 'no'
    if (!isAdmitted) {
      first.resolve(why)
      leave()
    } else if (why === 'already_connected') endAs(errorEnding('sender_already_connected'))
    else if (why === 'unavailable') cancelAsk = timers.after(ASK_AGAIN, ask)
    else {
      // It speaks out, or the log has its end: that is told as listeners are told it.
      place = 'ending'
      release()
      read()
    }
  }

  const hear = (message: ToSender): void => {
    switch (message.kind) {
      case 'admitted':
        return admitted(message.requestId === requestId)
      case 'refused':
        return message.requestId === requestId ? refused(message.why) : undefined
      case 'reply':
        return frames.answer(message.frame) ? connection?.send(message.frame) : undefined
      case 'close':
        return endAs(message)
      case 'hold':
        isHeld = message.on
        return read()
      case 'heard':
        frames.done(message)
        return makeRoom()
      case 'covered':
        isOverfull = false
        frames.covered(message)
        return makeRoom()
    }
  }

  const take = (frame: SenderFrame): void => {
    if (isOver || gone !== null) return
    frames.take(frame, place === 'held')
    if (frames.isFull()) makeRoom()
  }

  return {
    asked: first.promise,
    onLink: {
      linkUp: (up) => {
        if (isOver) return
        link = up.link
        ask()
      },
      message: (message) => {
        const isAnswer = message.kind === 'admitted' || message.kind === 'refused'
        if (!isOver && (isAnswer || place === 'held')) hear(message)
      },
      linkDown: (loss) => {
        link = null
        place = 'no'
        cancelAsk()
        if (isOver || !isAdmitted) return
        if (cancelHold === null) logger.info({ liveId, loss }, 'a sender is held: its worker is gone')
        hold()
        stopWaiting()
        read()
      },
      over: leave,
    },
    serve: (socket) => {
      connection = socket
      if (isOver) socket.end(errorEnding('server_restart'))
      else read()
      return {
        text: (text) => take({ kind: 'text', text }),
        binary: (bytes) => take({ kind: 'binary', bytes }),
        ping: () => {
          if (place === 'held') link?.send({ kind: 'text', text: null })
        },
        closed: (isClean) => {
          gone = isClean ? 'clean' : 'broken'
          connection = null
          if (isOver) return
          if (place === 'held') sayGoodbye(gone)
          else if (place === 'ending') leave()
        },
      }
    },
    abandoned: abandon,
  }
}
