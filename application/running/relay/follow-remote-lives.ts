import { ADMISSION_STREAM, Moved, WorkerJoined, WorkerLeft, WorkerRestarted } from '../../../domain/admission/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { detectEnds } from '../../lives/policies/detect-ends.ts'
import { type FollowDeps, followLog } from '../../log/follow-log.ts'
import { type Projector, SESSION_LISTS } from '../../ports/projector.ts'
import type { RemoteLives } from './remote-lives.ts'
import type { Placements } from './placements.ts'

export interface FollowRemoteLivesDeps extends FollowDeps, Pick<Projector, 'whenProjected'> {
  readonly remote: Pick<RemoteLives, 'ended' | 'placementChanged'>
  readonly placements: Pick<Placements, 'refresh'>
}

const placementEventOf = eventReader([Moved, WorkerJoined, WorkerLeft, WorkerRestarted])

/**
 * Reports sessions that ended or moved according to the log, in a process with sockets but without a worker. Ends are
 * reported once the read models show them, at most 2 s later. Resolves when it has stopped, after the signal.
 */
export const followRemoteLives = (deps: FollowRemoteLivesDeps): Promise<void> => {
  const { remote, placements, whenProjected, logger } = deps
  const completedBy = detectEnds()
  const pending = new Set<Promise<void>>()

  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => logger.error({ error: String(error) }, 'an event of a session could not be handled'))
      .finally(() => pending.delete(guarded))
    pending.add(guarded)
  }

  const follower = followLog(deps, {
    name: 'the sockets of sessions in other processes',
    prefixes: ['live-', ADMISSION_STREAM],
    onEvent: (_, event) => {
      if (event === null) return
      const end = completedBy(event)
      if (end !== undefined) {
        track(whenProjected(SESSION_LISTS, end.position).then(() => remote.ended(end.liveId, end.cause)))
      }
      const placementEvent = placementEventOf(event)
      if (placementEvent === undefined) return
      const { data } = placementEvent
      track(placements.refresh().then(() => remote.placementChanged('liveId' in data ? [data.liveId] : undefined)))
    },
  })
  return follower.stopped.then(async () => void (await Promise.all(pending)))
}
