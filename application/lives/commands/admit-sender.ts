import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists, type Live } from '../../../domain/live/state.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../refusals.ts'
import { ownOrigin } from '../../log/origin.ts'
import { type AttachedLive, attachedLive } from '../attached-live.ts'
import { changeLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'
import { takeOver } from '../ownership/take-over.ts'
import { ownTerm, type WorkerDeps } from '../ownership/own-sessions.ts'

type Refused = LiveOver | Superseded | Unavailable

/**
 * A sender without audio is recorded after this time. Clients that break off their handshakes leave no event, and a
 * sender that stays prevents PENDING_TIMEOUT.
 */
export const RECORD_AFTER_MS = 10_000

export interface AdmitSenderDeps extends WorkerDeps {
  /** PENDING_TIMEOUT in milliseconds; 0: never. */
  readonly pendingTimeout: number
}

/** A sender that may connect. The log does not name it yet. */
export interface AdmittedSender {
  readonly live: AttachedLive
  readonly point: SourcePoint
  /** Milliseconds after which a silent sender is recorded: soon if the session could end before. */
  readonly recordAfterMs: number
  /** Records the sender and returns its number within the session. A repeated call records it once. */
  readonly record: () => Promise<Either<Refused, number>>
}

/**
 * Reads a session for a sender, after earlier workers can write nothing more. Only the worker of a session accepts its
 * senders.
 */
export type AdmitSender = (liveId: number) => Promise<Either<Refused, AdmittedSender>>

const recordAfterMs = ({ pendingTimeout, store }: AdmitSenderDeps, { senderAt, created }: Live): number => {
  const due = Date.parse(senderAt ?? created.at) + pendingTimeout
  const half = (due - store.now()) / 2
  return pendingTimeout === 0 ? RECORD_AFTER_MS : Math.min(RECORD_AFTER_MS, Math.max(0, half))
}

export const admitSender =
  (deps: AdmitSenderDeps): AdmitSender =>
  async (liveId) => {
    const { instance, correlationId } = deps.environment
    // No term: the session has ended or belongs to another worker. Every session has a later term than 0.
    const term = ownTerm(deps, liveId) ?? 0
    const taken = await takeOver(deps)(liveId, term)
    if (E.isLeft(taken)) return taken.left._tag === 'LiveUnknown' ? E.left({ _tag: 'LiveOver' }) : E.left(taken.left)
    // The event belongs to the request of the handshake, which is over when the event is written.
    const own = ownOrigin(deps)
    const origin = { ...own, correlationId: correlationId() ?? own.correlationId }
    return E.right({
      live: attachedLive(taken.right.state),
      point: taken.right.point,
      recordAfterMs: recordAfterMs(deps, taken.right.state),
      record: async () => {
        const attached = await changeLive(deps)(liveId, { type: 'AttachSender', instance, term }, origin)
        if (E.isLeft(attached)) return attached
        if (!exists(attached.right)) throw new Error(`${liveStream(liveId)} has a sender but was never created`)
        return E.right(attached.right.epoch)
      },
    })
  }
