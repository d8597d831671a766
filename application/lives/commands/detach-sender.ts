import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Superseded, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/** Of which term and epoch a sender is. */
export interface SenderOfTerm {
  readonly term: number
  readonly epoch: number
}

/** Records that a sender left; nothing to do where another came behind it or the live is over. */
export type DetachSender = (liveId: number, sender: SenderOfTerm) => TaskEither<Superseded | Unavailable, void>

export const detachSender =
  (deps: WriteDeps): DetachSender =>
  (liveId, { term, epoch }) =>
  async () => {
    const command = { type: 'DetachSender', term, epoch, at: deps.environment.now() } as const
    const detached = await changeLive(deps)(liveId, command)()
    if (E.isRight(detached)) return E.right(undefined)
    if (detached.left._tag === 'LiveOver') return E.right(undefined)
    return E.left(detached.left)
  }
