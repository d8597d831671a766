import type { AudioPlace, FromWorker } from '../../../application/ports/live-links.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { FromSender } from '../../../application/running/relay/link-senders.ts'
import type { SenderSession } from '../../../application/running/socket-sessions.ts'
import type { Connection } from '../connection.ts'
import { type Ending, errorEnding } from '../ends.ts'
import { createSender, type SenderOptions } from '../senders/sender-frames.ts'

/** How often the other process gets the progress, so it can drop kept frames. */
const REPORT_EVERY_MS = 1000
/** Frames that are closer together than this are reported as one position. */
const MIN_DISTANCE_SAMPLES = 0.1 * SAMPLE_RATE

/** A frame of an admitted sender, or the close of its socket. */
export type FromAdmittedSender = Exclude<FromSender, { readonly kind: 'sender' }>

export interface ServedSenderOptions extends Omit<SenderOptions, 'connection'> {
  readonly link: { readonly send: (message: FromWorker) => void; readonly buffered: () => number }
  /** Position of the first frame. Null for a new sender. */
  readonly from: AudioPlace | null
  /** Minimum time that the session waits for the sender after a lost link, in milliseconds. */
  readonly grace: number
  readonly logger: Pick<Logger, 'error'>
  /** Called when the sender has left its session. */
  readonly onLeave: () => void
}

/**
 * A sender whose session runs here and whose socket is in another process. A link between the two processes carries its
 * frames and the replies.
 */
export interface ServedSender {
  /** Call it once, after `admitted` was sent. */
  readonly begin: () => void
  readonly message: (message: FromAdmittedSender) => void
  readonly lost: () => void
}

export const createServedSender = (session: SenderSession, options: ServedSenderOptions): ServedSender => {
  const { link, from, grace, timers, logger } = options
  /** Number of the last handled frame, and the position of its end in the audio of the session. */
  let number = (from?.frame ?? 1) - 1
  let sample = from?.sample ?? session.progress().received
  /** Ends of frames, in order, from the last reported stored position. */
  let places: Array<AudioPlace> = [{ frame: number, sample }]
  let reportedHandled = number
  let reportedStored = number
  let isPaused = false
  let isBroken = false
  let hasLeft = false
  let cancel: () => void = () => undefined

  const leave = (): void => {
    if (hasLeft) return
    hasLeft = true
    cancel()
    options.onLeave()
  }

  const reportHandled = (): void => {
    if (number === reportedHandled) return
    reportedHandled = number
    link.send({ kind: 'heard', frame: number, sample })
  }

  const reportStored = (): void => {
    const { stored } = session.progress()
    const index = places.findLastIndex((candidate) => candidate.sample <= stored)
    const place = places[index]
    if (place === undefined || place.frame === reportedStored) return
    places = places.slice(index)
    reportedStored = place.frame
    link.send({ kind: 'covered', ...place })
  }

  const addPlace = (): void => {
    const [before, last] = [places.at(-2), places.at(-1)]
    const isNear = last?.sample === sample || (before !== undefined && sample - before.sample < MIN_DISTANCE_SAMPLES)
    if (isNear) places.pop()
    places.push({ frame: number, sample })
  }

  const end = ({ frame, close, reason }: Ending): void => {
    if (hasLeft) return
    link.send({ kind: 'close', frame, close, reason })
    leave()
  }

  const send = (frame: string): void => {
    // `heard` goes before the reply: it names the frame that the reply answers.
    reportHandled()
    link.send({ kind: 'reply', frame })
  }

  const pause = (on: boolean): void => {
    if (isPaused === on) return
    isPaused = on
    link.send({ kind: 'hold', on })
  }

  const connection: Connection = {
    send,
    broadcast: ({ text }, onWritten) => {
      send(text)
      onWritten?.()
    },
    end,
    drop: () => end(errorEnding('server_restart')),
    pause: () => pause(true),
    resume: () => pause(false),
    isPaused: () => isPaused,
    buffered: link.buffered,
  }

  const countingSession: SenderSession = {
    ...session,
    audio: (samples) => {
      const outcome = session.audio(samples)
      if (outcome === 'ok') sample += samples.length
      return outcome
    },
    lost: () => session.lost(isBroken ? grace : 0),
  }
  const incoming = createSender(countingSession, { ...options, connection })

  const guarded = (handle: () => void): void => {
    try {
      handle()
    } catch (error) {
      logger.error({ liveId: session.liveId, error: String(error) }, 'unexpected error on a relayed sender')
      end(errorEnding('server_restart'))
      session.lost(grace)
    }
  }

  const report = (): void => {
    reportHandled()
    reportStored()
    scheduleReport()
  }

  /** In the same process a report may end the sender at once, so `hasLeft` is checked. */
  const scheduleReport = (): void => {
    if (!hasLeft) cancel = timers.after(REPORT_EVERY_MS, report)
  }

  const handleFrame = (handle: () => void): void => {
    number += 1
    guarded(handle)
    addPlace()
  }

  const disconnect = (how: 'clean' | 'broken' | 'abandoned'): void => {
    if (how === 'abandoned') session.abandoned(grace)
    else guarded(() => incoming.closed(how === 'clean'))
    leave()
  }

  const startPosition: FromWorker = { kind: 'covered', frame: number, sample }

  return {
    begin: () => {
      if (hasLeft) return
      link.send(startPosition)
      scheduleReport()
    },
    message: (message) => {
      switch (message.kind) {
        case 'text': {
          const { text } = message
          return text === null ? guarded(incoming.ping) : handleFrame(() => incoming.text(text))
        }
        case 'binary':
          return handleFrame(() => incoming.binary(message.bytes))
        case 'gone':
          return disconnect(message.how)
      }
    },
    lost: () => {
      isBroken = true
      disconnect('broken')
    },
  }
}
