import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/decider.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { LiveOver, SenderAlreadyConnected, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { attachedLive } from '../attached-live.ts'
import type { AttachedLive } from '../attached-live.ts'
import { changeLive } from '../change-live.ts'

/** Exactly one of many wins, by expected revision. A sender of a process that no longer lives does not count. */
export type AttachSender = (liveId: number) => TaskEither<SenderAlreadyConnected | LiveOver | Unavailable, AttachedLive>

export interface AttachSenderDeps extends WriteDeps {
  /** Processes that live beside this one; a sender of any other counts as detached. */
  readonly otherInstances: () => ReadonlyArray<string>
}

export const attachSender =
  (deps: AttachSenderDeps): AttachSender =>
  (liveId) =>
  async () => {
    const { instance, now } = deps.environment
    const command = { type: 'AttachSender', instance, otherInstances: deps.otherInstances(), at: now() } as const
    const attached = await changeLive(deps)(liveId, command)()
    if (E.isLeft(attached)) return attached
    if (!exists(attached.right)) throw new Error(`${liveStream(liveId)} has a sender but was never created`)
    return E.right(attachedLive(attached.right))
  }
