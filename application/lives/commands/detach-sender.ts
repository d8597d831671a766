import * as E from 'fp-ts/lib/Either.js'
import type { Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { ownOrigin, type Repeatable } from '../../log/origin.ts'
import { sendToSession } from '../../log/send-to.ts'

/** Identifies a sender. `term`: leadership term of its worker. `epoch`: number of the sender within the session. */
export interface SenderOfTerm {
  readonly term: number
  readonly epoch: number
}

/** Records that a sender left. Does nothing when a newer sender is attached or the session has ended. */
export type DetachSender = (liveId: number, sender: SenderOfTerm) => Repeatable<Superseded | Unavailable, void>

export const detachSender =
  (deps: WriteDeps): DetachSender =>
  (liveId, sender) => {
    const [origin, at] = [ownOrigin(deps), deps.environment.now()]
    return async () => {
      const detached = await sendToSession(deps)(liveId, { type: 'DetachSender', ...sender }, origin, at)
      if (E.isRight(detached) || detached.left._tag === 'LiveUnknown') return E.right(undefined)
      return E.left(detached.left)
    }
  }
