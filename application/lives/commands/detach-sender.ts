import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { changeLive } from '../change-live.ts'

/** Frees the place of the sender of this epoch; nothing to do where another has it or the live is over. */
export type DetachSender = (liveId: number, epoch: number) => TaskEither<Unavailable, void>

export const detachSender =
  (deps: WriteDeps): DetachSender =>
  (liveId, epoch) =>
  async () => {
    const detached = await changeLive(deps)(liveId, { type: 'DetachSender', epoch, at: deps.environment.now() })()
    if (E.isRight(detached)) return E.right(undefined)
    if (detached.left._tag === 'LiveOver' || detached.left._tag === 'SenderAlreadyConnected') return E.right(undefined)
    return E.left(detached.left)
  }
