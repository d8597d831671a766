import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../../application/ports/environment.ts'
import type { FromWorker } from '../../../application/ports/live-links.ts'
import type { Timers } from '../../../application/ports/timers.ts'
import type { FromSender, LinkSenders, ServedLink } from '../../../application/running/relay/link-senders.ts'
import type { LiveSessions, SenderSession } from '../../../application/running/socket-sessions.ts'
import { senderRefusalOf } from '../senders/sender-placement.ts'
import { createServedSender, type ServedSender } from './served-sender.ts'

interface WorkerSendersOptions {
  readonly sessions: Pick<LiveSessions, 'attachSender'>
  /** Minimum time that a session waits for its sender after a lost link, in milliseconds (TAKEOVER_GRACE). */
  readonly takeoverGrace: number
  readonly rateLimits: boolean
  /**
   * IDLE_TIMEOUT in milliseconds: an active session ends when its sender sends no frame for this time. 0 switches the
   * timeout off.
   */
  readonly idleTimeout: number
  readonly environment: Pick<Environment, 'monotonic'>
  readonly timers: Timers
  readonly logger: Logger
}

type PlaceRequest = Extract<FromSender, { readonly kind: 'sender' }>

/** A sender that has requested the one sender place of its session. */
interface PendingSender {
  /** Resolves when the request has an answer. */
  readonly done: Promise<void>
  /** The sender after it was admitted. */
  served: ServedSender | null
}

/** Creates the worker's end of relayed senders: the sockets are in other processes, and the sessions run here. */
export const createWorkerSenders = ({ sessions, takeoverGrace, ...options }: WorkerSendersOptions): LinkSenders => {
  /** Senders that wait for an answer or are admitted, by request id. */
  const senders = new Map<string, PendingSender>()

  const forget = (requestId: string, own: PendingSender): void => {
    if (senders.get(requestId) === own) senders.delete(requestId)
  }

  const open = ({ liveId, link }: ServedLink): ReturnType<LinkSenders['open']> => {
    let isClosed = false
    /** The sender that is admitted through this link. */
    let served: ServedSender | null = null
    /** Request ids that wait for an answer. */
    const pending = new Set<string>()
    /** The ids in `pending` whose sender has disconnected. */
    const abandoned = new Set<string>()

    const answer = (message: FromWorker): void => {
      if (!isClosed) link.send(message)
    }

    /** Detaches a sender that disconnected before its answer, as if it was lost right after its admission. */
    const detach = (session: SenderSession, isNew: boolean): void => {
      if (isNew) session.abandoned(takeoverGrace)
      else session.lost(takeoverGrace)
    }

    const place = async (
      { requestId, from }: PlaceRequest, own: PendingSender, before: PendingSender | undefined,
    ): Promise<void> => {
      // `before` is the same sender on an earlier link, whose loss is not known here yet.
      await before?.done
      before?.served?.lost()
      const attached = await sessions.attachSender(liveId, from?.sample ?? null)
      if (E.isLeft(attached)) return answer({ kind: 'refused', requestId, why: senderRefusalOf(attached.left) })
      if (isClosed || abandoned.has(requestId)) return detach(attached.right, from === null)
      const sender = createServedSender(attached.right, {
        ...options, link, from, grace: takeoverGrace,
        onLeave: () => {
          if (served === sender) served = null
          own.served = null
          forget(requestId, own)
        },
      })
      served = sender
      own.served = sender
      answer({ kind: 'admitted', requestId })
      sender.begin()
    }

    const handleRequest = async (request: PlaceRequest): Promise<void> => {
      const { requestId } = request
      const before = senders.get(requestId)
      const done = Promise.withResolvers<void>()
      const own: PendingSender = { done: done.promise, served: null }
      senders.set(requestId, own)
      pending.add(requestId)
      try {
        await place(request, own, before)
      } catch (error) {
        options.logger.error({ liveId, error: String(error) }, 'unexpected error: a relayed sender was refused')
        answer({ kind: 'refused', requestId, why: 'unavailable' })
      }
      pending.delete(requestId)
      abandoned.delete(requestId)
      done.resolve()
      if (own.served === null) forget(requestId, own)
    }

    return {
      message: (message) => {
        if (message.kind === 'sender') void handleRequest(message)
        else if (message.kind === 'gone' && pending.has(message.requestId)) abandoned.add(message.requestId)
        // The link may carry a refused sender, too. Its `gone` must not end the admitted sender.
        else if (message.kind !== 'gone' || senders.get(message.requestId)?.served === served) served?.message(message)
      },
      closed: () => {
        isClosed = true
        served?.lost()
      },
    }
  }

  return { open }
}
