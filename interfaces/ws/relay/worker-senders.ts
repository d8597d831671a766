import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import type { FromWorker } from '../../../application/ports/peers/live-links.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import type { FromSender, LinkSenders, ServedLink } from '../../../application/sessions/relay/link-senders.ts'
import type { LiveSessions } from '../../../application/sessions/runs/socket-sessions.ts'
import type { SenderSession } from '../../../application/sessions/sender-session.ts'
import { whyNoPlace } from '../senders/places.ts'
import { serveSender } from './served-sender.ts'
import type { ServedSender } from './served-sender.ts'

interface WorkerSendersOptions {
  readonly sessions: Pick<LiveSessions, 'attachSender'>
  /** Milliseconds for which a live waits at least for a sender whose link broke (TAKEOVER_GRACE). */
  readonly takeoverGrace: number
  readonly rateLimits: boolean
  /** Milliseconds without a frame after which an active raw live ends, 0 is never (IDLE_TIMEOUT). */
  readonly idleTimeout: number
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly logger: Logger
}

type Ask = Extract<FromSender, { readonly kind: 'sender' }>

/** A sender that asked for a place. */
interface Asking {
  readonly done: Promise<void>
  /** Its sender, once it has the place. */
  served: ServedSender | null
}

/** The senders that other processes have, in front of the lives that run here. */
export const createWorkerSenders = ({ sessions, takeoverGrace, ...options }: WorkerSendersOptions): LinkSenders => {
  /** Those that wait for an answer or have a place, by their ids. */
  const asked = new Map<string, Asking>()

  const forget = (requestId: string, own: Asking): void => {
    if (asked.get(requestId) === own) asked.delete(requestId)
  }

  const open = ({ liveId, link }: ServedLink): ReturnType<LinkSenders['open']> => {
    let isClosed = false
    /** Which sender has the place through this link, and who asks through it; of them, who is gone again. */
    let served: ServedSender | null = null
    const asking = new Set<string>()
    const abandoned = new Set<string>()

    const answer = (message: FromWorker): void => {
      if (!isClosed) link.send(message)
    }

    /** It came too late: the live is as if it had been here and was lost. */
    const missed = (session: SenderSession, { from }: Ask): void => {
      if (from === null) session.abandoned(takeoverGrace)
      else session.lost(takeoverGrace)
    }

    const place = async (ask: Ask, own: Asking, before: Asking | undefined): Promise<void> => {
      // The same sender: its link has broken, and we have not seen it yet.
      await before?.done
      before?.served?.lost()
      const attached = await sessions.attachSender(liveId, ask.from?.sample ?? null)()
      if (E.isLeft(attached)) return answer({ kind: 'refused', requestId: ask.requestId, why: whyNoPlace(attached.left) })
      if (isClosed || abandoned.has(ask.requestId)) return missed(attached.right, ask)
      const sender = serveSender(attached.right, {
        ...options, link, from: ask.from, grace: takeoverGrace,
        left: () => {
          if (served === sender) served = null
          own.served = null
          forget(ask.requestId, own)
        },
      })
      served = sender
      own.served = sender
      answer({ kind: 'admitted', requestId: ask.requestId })
      sender.begin()
    }

    const ask = async (message: Ask): Promise<void> => {
      const before = asked.get(message.requestId)
      const done = Promise.withResolvers<void>()
      const own: Asking = { done: done.promise, served: null }
      asked.set(message.requestId, own)
      asking.add(message.requestId)
      try {
        await place(message, own, before)
      } catch (error) {
        options.logger.error({ liveId, error: String(error) }, 'a sender of another process could not be given its place')
        answer({ kind: 'refused', requestId: message.requestId, why: 'unavailable' })
      }
      asking.delete(message.requestId)
      abandoned.delete(message.requestId)
      done.resolve()
      if (own.served === null) forget(message.requestId, own)
    }

    return {
      message: (message) => {
        if (message.kind === 'sender') void ask(message)
        // Another one of its process may ask in vain meanwhile.
        else if (message.kind === 'gone' && asking.has(message.requestId)) abandoned.add(message.requestId)
        else if (message.kind !== 'gone' || asked.get(message.requestId)?.served === served) served?.message(message)
      },
      closed: () => {
        isClosed = true
        served?.lost()
      },
    }
  }

  return { open }
}
