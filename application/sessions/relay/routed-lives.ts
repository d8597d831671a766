import * as E from 'fp-ts/lib/Either.js'
import type { EndByWorker, Ended, EndRequest } from '../../lives/end-by-worker.ts'
import type { GetActivityDeps } from '../../lives/queries/get-activity.ts'
import type { StoredFinals } from '../../lives/queries/stored-finals.ts'
import type { Logger } from '../../ports/environment.ts'
import type { LiveLinks } from '../../ports/peers/live-links.ts'
import type { Self } from '../../ports/peers/members.ts'
import type { HeardSessions, LiveSessions } from '../runs/socket-sessions.ts'
import { openMissedFinals } from '../missed-finals.ts'
import type { MissedFinals } from '../missed-finals.ts'
import type { LiveRuns } from '../runs/live-runs.ts'
import { endedFrom, passedEndRequest } from './passed.ts'
import type { RemoteLives } from './remote-lives.ts'
import type { Whereabouts } from './whereabouts.ts'

/** Milliseconds for the answer to an end: beyond them whoever asked appends it. */
const END_ANSWER = 4000

interface RoutedSessionsDeps {
  readonly remote: RemoteLives
  readonly storedFinals: StoredFinals
  readonly resolveToken: LiveSessions['resolveToken']
}

/** What the socket server talks to where other processes may run its lives. */
export const routedSessions = (
  { remote, storedFinals, resolveToken }: RoutedSessionsDeps,
): HeardSessions => {
  const open = openMissedFinals({ recent: remote.recent, storedFinals, isRelayed: true })
  return {
    resolveToken,
    ready: remote.ready,
    missed: (liveId, point) => async () => {
      // Whoever read the log now might miss what is told before the link stands.
      if (remote.isUnknown(liveId)) return E.left({ _tag: 'StoreUnavailable', reason: 'the live cannot be reached' })
      const opened = await open(liveId, point)()
      return E.map((missed: MissedFinals) => ({
        ...missed,
        // However long somebody takes what was missed in: the link stays.
        next: () => {
          remote.keep(liveId)
          return missed.next()
        },
      }))(opened)
    },
  }
}

interface RoutedEndsDeps {
  readonly whereabouts: Whereabouts
  readonly links: Pick<LiveLinks, 'end'>
  readonly logger: Logger
}

/** Ends by the worker of a live, wherever that is; `links` reach the one of this process as well. */
export const endWherever = ({ whereabouts, links, logger }: RoutedEndsDeps): EndByWorker => {
  const ask = async (liveId: number, end: EndRequest): Promise<Ended | null> => {
    if (whereabouts.of(liveId).kind !== 'member') await whereabouts.refresh()
    const where = whereabouts.of(liveId)
    if (where.kind !== 'member') return null
    const answer = await links.end(where.peer, { liveId, end: passedEndRequest(end) }, END_ANSWER)
    if (E.isRight(answer)) return answer.right === null ? null : endedFrom(answer.right)
    logger.warn({ liveId, worker: where.peer.name, reason: answer.left.reason }, 'the worker of a live did not answer its end')
    return null
  }

  return (liveId, end) =>
    ask(liveId, end).catch((error: unknown) => {
      logger.error({ liveId, error: String(error) }, 'the end of a live could not be asked of its worker')
      return null
    })
}

interface RoutedRunsDeps {
  /** Of this process's worker; null where it has none. */
  readonly runs: Pick<LiveRuns, 'hasSender' | 'audioSeconds'> | null
  readonly remote: Pick<RemoteLives, 'isSenderHere'>
  readonly whereabouts: Whereabouts
  readonly self: Self
}

/** What is known here of a live at this moment, wherever it runs. */
export const runsWherever = (
  { runs, remote, whereabouts, self }: RoutedRunsDeps,
): Required<GetActivityDeps['runs']> => ({
  hasSender: (liveId) => runs?.hasSender(liveId) === true || remote.isSenderHere(liveId),
  audioSeconds: (liveId) => runs?.audioSeconds(liveId) ?? null,
  isElsewhere: (liveId) => {
    const where = whereabouts.of(liveId)
    return where.kind === 'away' || (where.kind === 'member' && where.peer.incarnation !== self.incarnation)
  },
})

/** What the log tells of ends, for sockets, in a process that runs lives as well: `run-lives.ts` hears of all of them. */
export const relayingEnds = (runs: LiveRuns, remote: Pick<RemoteLives, 'ended'>): LiveRuns => ({
  ...runs,
  ended: (liveId, cause) => {
    runs.ended(liveId, cause)
    remote.ended(liveId, cause)
  },
})
