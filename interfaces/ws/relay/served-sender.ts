import type { AudioPlace, FromWorker } from '../../../application/ports/peers/live-links.ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import type { FromSender } from '../../../application/sessions/relay/link-senders.ts'
import type { SenderSession } from '../../../application/sessions/sender-session.ts'
import type { Connection } from '../connection.ts'
import { errorEnding } from '../ends.ts'
import type { Ending } from '../ends.ts'
import { createSender } from '../senders/sender.ts'
import type { SenderOptions } from '../senders/sender.ts'

/** How often the other process is told what it need not keep. */
const TELL_EVERY = 1000
/** Places nearer to one another are told as one. */
const APART = 0.1 * SAMPLE_RATE

/** A frame of a sender, or how it went. */
export type SentByPlaced = Exclude<FromSender, { readonly kind: 'sender' }>

export interface ServedSenderOptions extends Omit<SenderOptions, 'connection'> {
  readonly link: { readonly send: (message: FromWorker) => void; readonly buffered: () => number }
  /** Where its first frame stands; null: it is new. */
  readonly from: AudioPlace | null
  /** Milliseconds for which its live waits for it at least when the link breaks. */
  readonly grace: number
  readonly logger: Pick<Logger, 'error'>
  /** It has left its place. */
  readonly left: () => void
}

/** A sender whose socket another process has, at the worker of its live: its protocol over a link. */
export interface ServedSender {
  /** Once, when the other process knows that it has the place. */
  readonly begin: () => void
  readonly message: (message: SentByPlaced) => void
  /** Nothing comes through its link any more. */
  readonly lost: () => void
}

export const serveSender = (session: SenderSession, options: ServedSenderOptions): ServedSender => {
  const { link, from, grace, timers, logger } = options
  let number = (from?.frame ?? 1) - 1
  let sample = from?.sample ?? session.progress().heard
  /** Where frames end, in order, from what is covered on. */
  let places: Array<AudioPlace> = [{ frame: number, sample }]
  let toldDone = number
  let toldCovered = number
  let [isPaused, isBroken, hasLeft] = [false, false, false]
  let cancel: () => void = () => undefined

  const leave = (): void => {
    if (hasLeft) return
    hasLeft = true
    cancel()
    options.left()
  }

  const tellDone = (): void => {
    if (number === toldDone) return
    toldDone = number
    link.send({ kind: 'heard', frame: number, sample })
  }

  const tellCovered = (): void => {
    const { stored } = session.progress()
    const at = places.findLastIndex((place) => place.sample <= stored)
    const place = places[at]
    if (place === undefined || place.frame === toldCovered) return
    places = places.slice(at)
    toldCovered = place.frame
    link.send({ kind: 'covered', ...place })
  }

  const place = (): void => {
    const [before, last] = [places.at(-2), places.at(-1)]
    const isNear = last?.sample === sample || (before !== undefined && sample - before.sample < APART)
    if (isNear) places.pop()
    places.push({ frame: number, sample })
  }

  const end = ({ frame, close, reason }: Ending): void => {
    if (hasLeft) return
    link.send({ kind: 'close', frame, close, reason })
    leave()
  }

  const send = (frame: string): void => {
    // What is answered is told first.
    tellDone()
    link.send({ kind: 'reply', frame })
  }

  const pause = (on: boolean): void => {
    if (isPaused === on) return
    isPaused = on
    link.send({ kind: 'hold', on })
  }

  const connection: Connection = {
    send,
    broadcast: ({ text }, taken) => {
      send(text)
      taken?.()
    },
    end,
    drop: () => end(errorEnding('server_restart')),
    pause: () => pause(true),
    resume: () => pause(false),
    isPaused: () => isPaused,
    buffered: link.buffered,
  }

  const counted: SenderSession = {
    ...session,
    audio: (samples) => {
      const outcome = session.audio(samples)
      if (outcome === 'ok') sample += samples.length
      return outcome
    },
    lost: () => session.lost(isBroken ? grace : 0),
  }
  const incoming = createSender(counted, { ...options, connection })

  const guarded = (handle: () => void): void => {
    try {
      handle()
    } catch (error) {
      logger.error({ liveId: session.liveId, error: String(error) }, 'a sender of another process broke')
      end(errorEnding('server_restart'))
      session.lost(grace)
    }
  }

  const tell = (): void => {
    tellDone()
    tellCovered()
    tellAgain()
  }

  /** Within a process the other end may answer what it was told by leaving. */
  const tellAgain = (): void => {
    if (!hasLeft) cancel = timers.after(TELL_EVERY, tell)
  }

  const hear = (handle: () => void): void => {
    number += 1
    guarded(handle)
    place()
  }

  const go = (how: 'clean' | 'broken' | 'abandoned'): void => {
    if (how === 'abandoned') session.abandoned(grace)
    else guarded(() => incoming.closed(how === 'clean'))
    leave()
  }

  const beginning: FromWorker = { kind: 'covered', frame: number, sample }

  return {
    begin: () => {
      if (hasLeft) return
      link.send(beginning)
      tellAgain()
    },
    message: (message) => {
      switch (message.kind) {
        case 'text': {
          const { text } = message
          return text === null ? guarded(incoming.ping) : hear(() => incoming.text(text))
        }
        case 'binary':
          return hear(() => incoming.binary(message.bytes))
        case 'gone':
          return go(message.how)
      }
    },
    lost: () => {
      isBroken = true
      go('broken')
    },
  }
}
