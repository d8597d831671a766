import * as E from 'fp-ts/lib/Either.js'
import type { Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Repeatable } from '../../log/origin.ts'
import { changeLive } from '../change-live.ts'

/** Identifies a sender. `term`: leadership term of its worker. `epoch`: number of the sender within the session. */
export interface SenderOfTerm {
  readonly term: number
  readonly epoch: number
}

/** Records that a sender left. Does nothing when a newer sender is attached or the session has ended. */
export type DetachSender = (liveId: number, sender: SenderOfTerm) => Repeatable<Superseded | Unavailable, void>

export const detachSender =
  (deps: WriteDeps): DetachSender =>
  (liveId, { term, epoch }) => {
    const command = { type: 'DetachSender', term, epoch, at: deps.environment.now() } as const
    const origin = ownOrigin(deps)
    return async () => {
      const detached = await changeLive(deps)(liveId, command, origin)
      if (E.isRight(detached) || detached.left._tag === 'LiveOver') return E.right(undefined)
      return E.left(detached.left)
    }
  }
