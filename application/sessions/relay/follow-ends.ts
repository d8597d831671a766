import { ADMISSION_STREAM, Moved, WorkerJoined, WorkerLeft } from '../../../domain/admission/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { watchEnds } from '../../lives/policies/watch-ends.ts'
import { followLog } from '../../log/follow-log.ts'
import type { FollowDeps } from '../../log/follow-log.ts'
import type { Position } from '../../ports/event-store.ts'
import type { RemoteLives } from './remote-lives.ts'
import type { Whereabouts } from './whereabouts.ts'

export interface FollowEndsDeps extends FollowDeps {
  readonly remote: Pick<RemoteLives, 'ended' | 'placedAnew'>
  readonly whereabouts: Pick<Whereabouts, 'refresh'>
  readonly whenProjected: (position: Position) => Promise<void>
}

const movedOf = eventReader([Moved, WorkerJoined, WorkerLeft])

/**
 * For a process with sockets that runs no lives itself: it hears from the log which lives ended, at most 2 s later, when
 * the lists show it, and which are placed anew. Answers when it has stopped, after the signal.
 */
export const followEnds = (deps: FollowEndsDeps): Promise<void> => {
  const { remote, whereabouts, whenProjected, logger } = deps
  const completedBy = watchEnds()
  const telling = new Set<Promise<void>>()

  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => logger.error({ error: String(error) }, 'what the log told of lives elsewhere broke'))
      .finally(() => telling.delete(guarded))
    telling.add(guarded)
  }

  const follower = followLog(deps, {
    who: 'the sockets of lives elsewhere',
    prefixes: ['live-', ADMISSION_STREAM],
    hear: (_, event) => {
      if (event === null) return
      const over = completedBy(event)
      if (over !== undefined) track(whenProjected(over.position).then(() => remote.ended(over.liveId, over.cause)))
      const moved = movedOf(event)
      if (moved === undefined) return
      const { data } = moved
      track(whereabouts.refresh().then(() => remote.placedAnew('liveId' in data ? [data.liveId] : undefined)))
    },
  })
  return follower.stopped.then(async () => void (await Promise.all(telling)))
}
