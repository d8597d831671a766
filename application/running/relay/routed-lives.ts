import * as E from 'fp-ts/lib/Either.js'
import type { EndByWorker, Ended, EndRequest } from '../../lives/ending.ts'
import type { GetActivityDeps } from '../../lives/queries/get-activity.ts'
import type { StoredFinals } from '../../lives/queries/stored-finals.ts'
import type { Logger } from '../../ports/environment.ts'
import type { LiveLinks } from '../../ports/live-links.ts'
import type { Self } from '../../ports/members.ts'
import type { ListenerSessions, LiveSessions } from '../socket-sessions.ts'
import { type MissedFinals, openMissedFinals } from '../missed-finals.ts'
import type { LiveRuns } from '../live-runs.ts'
import { decodeEnded, encodeEndRequest } from './link-codecs.ts'
import type { RemoteLives } from './remote-lives.ts'
import type { Placements } from './placements.ts'

/** Longest wait for the answer to an end request. Afterwards the caller appends the end itself. */
const END_ANSWER_MS = 4000

interface RoutedSessionsDeps {
  readonly remote: RemoteLives
  readonly storedFinals: StoredFinals
  readonly resolveToken: LiveSessions['resolveToken']
}

/** The sessions that the socket server uses when other processes may run them. */
export const routedSessions = (
  { remote, storedFinals, resolveToken }: RoutedSessionsDeps,
): ListenerSessions => {
  const open = openMissedFinals({ recent: remote.recent, storedFinals, isRelayed: true })
  return {
    resolveToken,
    ready: remote.ready,
    missed: async (liveId, point) => {
      // A read of the log at this moment could miss finals that are sent before the link is up.
      if (remote.isUnknown(liveId))
        return E.left({ _tag: 'StoreUnavailable', reason: 'the worker of the session is unreachable' })
      const opened = await open(liveId, point)
      return E.map((missed: MissedFinals) => ({
        ...missed,
        // Keeps the link open while the listener reads the missed finals.
        next: () => {
          remote.keep(liveId)
          return missed.next()
        },
      }))(opened)
    },
  }
}

interface RoutedEndsDeps {
  readonly placements: Placements
  readonly links: Pick<LiveLinks, 'end'>
  readonly logger: Logger
}

/** Ends a session through its worker, which may run in any process. `links` also reach the worker of this process. */
export const endAnywhere = ({ placements, links, logger }: RoutedEndsDeps): EndByWorker => {
  const requestEnd = async (liveId: number, end: EndRequest): Promise<Ended | null> => {
    if (placements.of(liveId).kind !== 'member') await placements.refresh()
    const placement = placements.of(liveId)
    if (placement.kind !== 'member') return null
    const answer = await links.end(placement.peer, { liveId, end: encodeEndRequest(end) }, END_ANSWER_MS)
    if (E.isRight(answer)) return answer.right === null ? null : decodeEnded(answer.right)
    const about = { liveId, worker: placement.peer.name, reason: answer.left.reason }
    logger.warn(about, 'the worker of a session did not answer an end request')
    return null
  }

  return (liveId, end) =>
    requestEnd(liveId, end).catch((error: unknown) => {
      logger.error({ liveId, error: String(error) }, 'an end request to the worker of a session failed')
      return null
    })
}

interface RoutedRunsDeps {
  /** The runs of the worker of this process. Null without a worker. */
  readonly runs: Pick<LiveRuns, 'hasSender' | 'audioSeconds' | 'wrongSamples'> | null
  readonly remote: Pick<RemoteLives, 'isSenderHere'>
  readonly placements: Placements
  readonly self: Self
}

/** Reports the activity of a session of any process, as far as this process knows it. */
export const runsAnywhere = (
  { runs, remote, placements, self }: RoutedRunsDeps,
): Required<GetActivityDeps['runs']> => ({
  hasSender: (liveId) => runs?.hasSender(liveId) === true || remote.isSenderHere(liveId),
  audioSeconds: (liveId) => runs?.audioSeconds(liveId) ?? null,
  wrongSamples: (liveId) => runs?.wrongSamples(liveId) ?? null,
  isElsewhere: (liveId) => {
    const placement = placements.of(liveId)
    return placement.kind === 'away' || (placement.kind === 'member' && placement.peer.incarnation !== self.incarnation)
  },
})

/** For a process with both a worker and sockets: each end that `run-lives.ts` reports also reaches the sockets. */
export const relayingEnds = (runs: LiveRuns, remote: Pick<RemoteLives, 'ended'>): LiveRuns => ({
  ...runs,
  ended: (liveId, cause) => {
    runs.ended(liveId, cause)
    remote.ended(liveId, cause)
  },
})
