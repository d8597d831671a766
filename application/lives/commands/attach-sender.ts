import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/state.ts'
import { FIRST_TERM, liveStream } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import { attachedLive } from '../attached-live.ts'
import type { AttachedLive } from '../attached-live.ts'
import { changeLive } from '../change-live.ts'
import { SOURCE_START } from '../source-point.ts'
import type { SourcePoint } from '../source-point.ts'
import { takeOver } from '../terms/take-over.ts'
import { ownTerm } from '../terms/worker.ts'
import type { WorkerDeps } from '../terms/worker.ts'

/** Records the sender that this worker accepted. Only the worker of a session accepts its senders. */
export type AttachSender = (
  liveId: number,
) => TaskEither<LiveOver | Superseded | Unavailable, { readonly live: AttachedLive; readonly point: SourcePoint }>

export const attachSender =
  (deps: WorkerDeps): AttachSender =>
  (liveId) =>
  async () => {
    const { instance, now } = deps.environment
    // No term: the session has ended or belongs to another worker. The decider refuses a sender with term 0.
    const term = ownTerm(deps, liveId) ?? 0
    // After the takeover, workers of earlier terms can write nothing more. The first term has no earlier worker.
    const taken = term > FIRST_TERM ? await takeOver(deps)(liveId, term)() : null
    if (taken !== null && E.isLeft(taken))
      return taken.left._tag === 'LiveUnknown' ? E.left({ _tag: 'LiveOver' }) : E.left(taken.left)
    const attached = await changeLive(deps)(liveId, { type: 'AttachSender', instance, term, at: now() })()
    if (E.isLeft(attached)) return attached
    if (!exists(attached.right)) throw new Error(`${liveStream(liveId)} has a sender but was never created`)
    return E.right({ live: attachedLive(attached.right), point: taken?.right.point ?? SOURCE_START })
  }
