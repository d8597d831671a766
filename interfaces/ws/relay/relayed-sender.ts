import type { LiveLink, SenderRefusal } from '../../../application/ports/live-links.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import { afterRunning } from '../../../application/waiting.ts'
import type { RemoteSender, ToSender } from '../../../application/running/relay/remote-sender.ts'
import type { SenderFrame } from '../../../application/running/relay/unsettled-audio.ts'
import type { Connection } from '../connection.ts'
import { type Ending, errorEnding } from '../ends.ts'
import type { Incoming } from '../incoming.ts'
import { createSentFrames } from './sent-frames.ts'

/** How long a handshake waits for the response of the worker. */
const PLACEMENT_TIMEOUT_MS = 5000
/** How long a socket waits for the next worker after its worker is lost. */
const NEXT_WORKER_TIMEOUT_MS = 15_000
/** Pause before a request to an unavailable worker is repeated. */
const RETRY_AFTER_MS = 500
/** When the kept audio reaches its limit, the worker has this time to store the text. Then old audio is dropped. */
const FULL_PATIENCE_MS = 5000

export type Placement = 'admitted' | SenderRefusal

/**
 * A sender whose socket is in this process and whose session runs in another process, the worker. A link connects both
 * processes. The sender passes frames to the worker, and keeps them until their text is stored. If the worker is lost,
 * it sends the kept frames to the next worker.
 */
export interface RelayedSender {
  /** Receives the messages of the link. */
  readonly onLink: RemoteSender
  /** The result of the first placement request. */
  readonly firstOutcome: Promise<Placement>
  readonly serve: (connection: Connection) => Incoming
  /** Call it when the socket does not open. */
  readonly abandoned: () => void
}

export interface RelayedSenderOptions {
  readonly liveId: number
  /** Unique for each sender. */
  readonly requestId: string
  readonly timers: Timers
  readonly logger: Pick<Logger, 'warn' | 'info'>
  /** Removes the sender from the link. */
  readonly leave: () => void
  /** Bytes of audio to keep. The default is 2 MiB. */
  readonly maxKeptBytes?: number
}

/**
 * Whether the sender has the one sender place of its session. `none`: not requested, or the link is lost. `ending`: the
 * worker takes no more audio, and the sender waits for the end of the session.
 */
type PlaceState = 'none' | 'requested' | 'held' | 'ending'

export const createRelayedSender = (options: RelayedSenderOptions): RelayedSender => {
  const { liveId, requestId, timers, logger } = options
  const frames = createSentFrames((frame) => link?.send(frame), options.maxKeptBytes)
  const firstOutcome = Promise.withResolvers<Placement>()
  let connection: Connection | null = null
  let link: Pick<LiveLink, 'send'> | null = null
  let place: PlaceState = 'none'
  let isAdmitted = false
  let isOver = false
  let isPausedByWorker = false
  let isDropping = false
  /** How the socket closed. Null while it is open. */
  let closedHow: 'clean' | 'broken' | null = null
  let cancelWorkerTimeout: (() => void) | null = null
  let cancelFull: (() => void) | null = null
  let cancelRetry: () => void = () => undefined

  const leave = (): void => {
    if (isOver) return
    isOver = true
    for (const cancel of [cancelWorkerTimeout, cancelFull, cancelRetry, cancelPlacementTimeout]) cancel?.()
    firstOutcome.resolve('unavailable')
    options.leave()
  }

  const cancelPlacementTimeout = timers.after(PLACEMENT_TIMEOUT_MS, () => abandon())

  const abandon = (): void => {
    if (place === 'requested' || place === 'held') link?.send({ kind: 'gone', requestId, how: 'abandoned' })
    leave()
  }

  const endAs = (ending: Ending): void => {
    connection?.end(ending)
    leave()
  }

  /** Reads the socket while the worker takes frames and the kept audio is not full. */
  const updateReading = (): void => {
    if (isOver) return
    const takesFrames = place === 'ending' || (place === 'held' && !isPausedByWorker)
    if (takesFrames && !frames.isFull()) connection?.resume()
    else connection?.pause()
  }

  const startDropping = (): void => {
    cancelFull = null
    isDropping = true
    logger.warn({ liveId }, 'the oldest kept audio is dropped: if the worker is lost now, this audio is lost')
    makeRoom()
  }

  const makeRoom = (): void => {
    if (isDropping) frames.dropOldest()
    if (place === 'held' && frames.isFull() && !isDropping) cancelFull ??= timers.after(FULL_PATIENCE_MS, startDropping)
    else stopFullTimeout()
    updateReading()
  }

  const stopFullTimeout = (): void => {
    cancelFull?.()
    cancelFull = null
  }

  const startWorkerTimeout = (): void => {
    // Only running time counts. A process that was suspended can still find the next worker, and has lost no audio.
    cancelWorkerTimeout ??= afterRunning(timers, NEXT_WORKER_TIMEOUT_MS, () => {
      logger.warn({ liveId }, 'no worker accepted a sender in time')
      endAs(errorEnding('server_restart'))
    })
  }

  const stopWorkerTimeout = (): void => {
    cancelWorkerTimeout?.()
    cancelWorkerTimeout = null
  }

  const requestPlace = (): void => {
    place = 'requested'
    link?.send({ kind: 'sender', requestId, from: isAdmitted ? frames.from() : null })
  }

  /** After a clean close the sender stays until the kept frames are transcribed, or the session has ended. */
  const reportClose = (how: 'clean' | 'broken'): void => {
    link?.send({ kind: 'gone', requestId, how })
    if (how === 'broken' || frames.isEmpty()) leave()
  }

  /** Sends the kept frames to the next worker, because the earlier worker may not have stored their text. */
  const repeat = (): void => {
    frames.repeat()
    if (closedHow !== null) reportClose(closedHow)
  }

  const admitted = (isOwn: boolean): void => {
    // Another sender was admitted. If this sender had the place before, the place was lost together with the link.
    if (!isOwn) return isAdmitted ? endAs(errorEnding('sender_already_connected')) : undefined
    place = 'held'
    isPausedByWorker = false
    stopWorkerTimeout()
    cancelPlacementTimeout()
    if (isAdmitted) repeat()
    isAdmitted = true
    firstOutcome.resolve('admitted')
    makeRoom()
  }

  const refused = (why: SenderRefusal): void => {
    place = 'none'
    if (!isAdmitted) {
      firstOutcome.resolve(why)
      leave()
    } else if (why === 'already_connected') endAs(errorEnding('sender_already_connected'))
    else if (why === 'unavailable') cancelRetry = timers.after(RETRY_AFTER_MS, requestPlace)
    else {
      // The session is ending. The sender gets its end through the hub, like the listeners.
      place = 'ending'
      stopWorkerTimeout()
      updateReading()
    }
  }

  const handleMessage = (message: ToSender): void => {
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
        isPausedByWorker = message.on
        return updateReading()
      case 'heard':
        frames.done(message)
        return makeRoom()
      case 'covered':
        // The text of the audio up to this place is stored.
        isDropping = false
        frames.covered(message)
        return makeRoom()
    }
  }

  const take = (frame: SenderFrame): void => {
    if (isOver || closedHow !== null) return
    frames.take(frame, place === 'held')
    if (frames.isFull()) makeRoom()
  }

  return {
    firstOutcome: firstOutcome.promise,
    onLink: {
      linkUp: (up) => {
        if (isOver) return
        link = up.link
        requestPlace()
      },
      message: (message) => {
        const isAnswer = message.kind === 'admitted' || message.kind === 'refused'
        if (!isOver && (isAnswer || place === 'held')) handleMessage(message)
      },
      linkDown: (loss) => {
        link = null
        place = 'none'
        cancelRetry()
        if (isOver || !isAdmitted) return
        if (cancelWorkerTimeout === null) logger.info({ liveId, loss }, 'worker lost: a sender waits for the next one')
        startWorkerTimeout()
        stopFullTimeout()
        updateReading()
      },
      over: leave,
    },
    serve: (socket) => {
      connection = socket
      if (isOver) socket.end(errorEnding('server_restart'))
      else updateReading()
      return {
        text: (text) => take({ kind: 'text', text }),
        binary: (bytes) => take({ kind: 'binary', bytes }),
        ping: () => {
          if (place === 'held') link?.send({ kind: 'text', text: null })
        },
        closed: (isClean) => {
          closedHow = isClean ? 'clean' : 'broken'
          connection = null
          if (isOver) return
          if (place === 'held') reportClose(closedHow)
          else if (place === 'ending') leave()
        },
      }
    },
    abandoned: abandon,
  }
}
