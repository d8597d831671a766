import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/** Identifies a sender. `term`: leadership term of its worker. `epoch`: number of the sender within the session. */
export interface SenderOfTerm {
  readonly term: number
  readonly epoch: number
}

/** Records that a sender left. Does nothing when a newer sender is attached or the session has ended. */
export type DetachSender = (liveId: number, sender: SenderOfTerm) => TaskEither<Superseded | Unavailable, void>

export const detachSender =
  (deps: WriteDeps): DetachSender =>
  (liveId, { term, epoch }) =>
    pipe(
      changeLive(deps)(liveId, { type: 'DetachSender', term, epoch, at: deps.environment.now() }),
      TE.map(() => undefined),
      TE.orElseW((refusal) => (refusal._tag === 'LiveOver' ? TE.right(undefined) : TE.left(refusal))),
    )
