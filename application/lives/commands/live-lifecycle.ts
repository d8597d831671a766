import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists, liveDecider } from '../../../domain/live/decider.ts'
import type { LiveCommand, LiveState } from '../../../domain/live/decider.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { attachedLive } from '../attached-live.ts'
import { endLive, unexpected } from './end-live.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { EndLiveDeps } from './end-live.ts'
import type { LiveOver, SenderAlreadyConnected, Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import type { Position } from '../../ports/event-store.ts'
import type { ResolveToken } from '../../ports/read-models.ts'
import { createAutoStarted } from '../queries/auto-started.ts'
import { createSegmentWriter } from './record-segment.ts'
import { createStoredFinals } from '../queries/stored-finals.ts'
import type { LiveLifecycle } from '../../services.ts'

export interface LiveLifecycleDeps extends EndLiveDeps {
  readonly resolveToken: ResolveToken
  /** Best effort, at most 2 s: until the read models have passed the position. */
  readonly whenProjected: (position: Position) => Promise<void>
  /** Processes that live beside this one; a sender of any other counts as detached. */
  readonly otherInstances: () => ReadonlyArray<string>
}

/** What sockets and pipelines write; each answers once the event is durable. */
export const createLiveLifecycle = (deps: LiveLifecycleDeps): LiveLifecycle => {
  type Refused = SenderAlreadyConnected | LiveOver | Unavailable
  const change = async (liveId: number, command: LiveCommand): Promise<Either<Refused, LiveState>> => {
    const stream = liveStream(liveId)
    const handled = await handleCommand(deps)({ ...ownOrigin(deps), stream, decider: liveDecider, command })()
    if (E.isRight(handled)) return E.right(handled.right.state)
    const refusal = handled.left
    // A live that was deleted after its token had been resolved is as good as over.
    if (refusal._tag === 'LiveUnknown') return E.left({ _tag: 'LiveOver' })
    if (refusal._tag === 'AlreadyCreated') throw unexpected(refusal, stream)
    if (refusal._tag === 'LiveOver' || refusal._tag === 'SenderAlreadyConnected') return E.left({ _tag: refusal._tag })
    return E.left(refusal)
  }

  return {
    resolveToken: deps.resolveToken,

    attachSender: (liveId) => async () => {
      const { instance, now } = deps.environment
      const attached = await change(liveId, { type: 'AttachSender', instance, otherInstances: deps.otherInstances(), at: now() })
      if (E.isLeft(attached)) return attached
      if (!exists(attached.right)) throw new Error(`${liveStream(liveId)} has a sender but was never created`)
      return E.right(attachedLive(attached.right))
    },

    detachSender: (liveId, epoch) => async () => {
      const detached = await change(liveId, { type: 'DetachSender', epoch, at: deps.environment.now() })
      if (E.isRight(detached)) return E.right(undefined)
      if (detached.left._tag === 'LiveOver' || detached.left._tag === 'SenderAlreadyConnected') return E.right(undefined)
      return E.left(detached.left)
    },

    start: (liveId) => async () => {
      const started = await change(liveId, { type: 'StartLive', at: deps.environment.now() })
      if (E.isRight(started)) return E.right(undefined)
      if (started.left._tag === 'SenderAlreadyConnected') throw unexpected(started.left, liveStream(liveId))
      return E.left(started.left)
    },

    autoStarted: createAutoStarted(deps),

    startSource: (liveId, facts) => async () => {
      const started = await change(liveId, { type: 'StartSource', ...facts, at: deps.environment.now() })
      if (E.isRight(started)) return E.right(undefined)
      if (started.left._tag === 'SenderAlreadyConnected') throw unexpected(started.left, liveStream(liveId))
      return E.left(started.left)
    },

    end: (liveId, cause) => async () => {
      const ended = await endLive(deps, liveId, cause, ownOrigin(deps))()
      if (E.isLeft(ended)) return ended
      if (ended.right !== null) await deps.whenProjected(ended.right)
      return E.right(undefined)
    },

    recordSegment: createSegmentWriter(deps),

    storedFinals: createStoredFinals(deps),
  }
}
