import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/state.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import { ownOrigin } from '../../log/origin.ts'
import { attachedLive } from '../attached-live.ts'
import type { AttachedLive } from '../attached-live.ts'
import { changeLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'
import { takeOver } from '../terms/take-over.ts'
import { ownTerm } from '../terms/worker.ts'
import type { WorkerDeps } from '../terms/worker.ts'

type Refused = LiveOver | Superseded | Unavailable

/** A sender that may connect. The log does not name it yet. */
export interface AdmittedSender {
  readonly live: AttachedLive
  readonly point: SourcePoint
  /** Records the sender and returns its number within the session. A repeated call records it once. */
  readonly record: TaskEither<Refused, number>
}

/**
 * Reads a session for a sender, after earlier workers can write nothing more. Only the worker of a session accepts its
 * senders.
 */
export type AdmitSender = (liveId: number) => TaskEither<Refused, AdmittedSender>

export const admitSender =
  (deps: WorkerDeps): AdmitSender =>
  (liveId) =>
  async () => {
    const { instance, now, correlationId } = deps.environment
    // No term: the session has ended or belongs to another worker. Every session has a later term than 0.
    const term = ownTerm(deps, liveId) ?? 0
    const taken = await takeOver(deps)(liveId, term)()
    if (E.isLeft(taken)) return taken.left._tag === 'LiveUnknown' ? E.left({ _tag: 'LiveOver' }) : E.left(taken.left)
    // The event belongs to the request of the handshake, which is over when the event is written.
    const own = ownOrigin(deps)
    const origin = { ...own, correlationId: correlationId() ?? own.correlationId }
    return E.right({
      live: attachedLive(taken.right.state),
      point: taken.right.point,
      record: async () => {
        const attached = await changeLive(deps)(liveId, { type: 'AttachSender', instance, term, at: now() }, origin)()
        if (E.isLeft(attached)) return attached
        if (!exists(attached.right)) throw new Error(`${liveStream(liveId)} has a sender but was never created`)
        return E.right(attached.right.epoch)
      },
    })
  }
