import * as E from 'fp-ts/lib/Either.js'
import type { EndCause } from '../../domain/live/events.ts'
import { type DailyBudget, NO_BUDGET } from '../budget.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { EndByWorker } from '../lives/ending.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import { openMissedFinals } from './missed-finals.ts'
import { createRecentFinals, type RecentFinals } from './recent-finals.ts'
import { runSession, type RunningSession, type SessionServices } from './run-session.ts'
import type { LiveRuns } from './live-runs.ts'
import type { LiveSessions } from './socket-sessions.ts'
import { createWriteQueue } from './write-queue.ts'

export interface LiveSessionsOptions extends SessionServices {
  /** What owners may write within a day. The default is no limit. */
  readonly budget?: DailyBudget
  /** Number of finals of each session that are kept in memory for returning sockets. The default is 500. */
  readonly keptFinals?: number
}

export interface RunningSessions extends LiveSessions {
  readonly runs: LiveRuns
  readonly endByWorker: EndByWorker
  /** The finals that this worker sent. */
  readonly recent: Pick<RecentFinals, 'of'>
  /** Number of sessions with a sender or a pipeline in this process. */
  readonly count: () => number
  /** Number of finals since the start of this process that could not be stored. */
  readonly droppedFinals: () => number
  /** Seconds of lost audio of URL sources since the start of this process. */
  readonly lostSeconds: () => number
  /** Makes every pipeline transcribe its received audio, for a drain. The sessions stay open. */
  readonly flushAll: (limitMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Connects senders, pipelines and the write side. The log decides how and when a session ends. */
export const createLiveSessions = (options: LiveSessionsOptions): RunningSessions => {
  const { lifecycle, bus, logger, timers, environment, budget = NO_BUDGET } = options
  const lives = new Map<number, RunningSession>()
  /** By session id: the sender that is being admitted. It holds the only sender place of the session. */
  const admissions = new Map<number, object>()
  const recent = createRecentFinals(timers, options.keptFinals)
  const closing = new AbortController()
  const { signal } = closing
  const pending = new Set<Promise<unknown>>()
  let droppedFinals = 0
  let lostSeconds = 0

  const track = (work: Promise<unknown>): void => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }

  const forget = (liveId: number): void => {
    lives.get(liveId)?.settle()
    lives.delete(liveId)
    admissions.delete(liveId)
  }

  const ended = (liveId: number, cause: EndCause): void => {
    forget(liveId)
    recent.ended(liveId, cause.status === 'finished' && cause.reason === 'deleted')
    bus.publish(liveId, { kind: 'ended', cause })
  }

  const drop = (liveId: number): void => {
    if (!lives.has(liveId) && !admissions.has(liveId)) return
    logger.warn({ liveId }, 'another worker runs the session: it is stopped here')
    forget(liveId)
    recent.forget(liveId)
    bus.publish(liveId, { kind: 'moved' })
  }

  const run = (liveId: number, live: AttachedLive, point: SourcePoint): RunningSession => {
    const present = lives.get(liveId)
    if (present !== undefined) return present
    const isCurrent = (): boolean => lives.get(liveId) === session
    const superseded = (): void => (isCurrent() ? drop(liveId) : undefined)
    const session = runSession({
      ...options, liveId, live, point, budget, signal, track,
      writes: createWriteQueue({ liveId, logger, timers, environment, signal, track, superseded }),
      finals: recent.open(liveId, point.nextSegment === 1),
      dropped: (final) => {
        droppedFinals += 1
        logger.error({ liveId, ...final }, 'a final could not be stored: only memory holds it')
      },
      lost: (samples) => void (lostSeconds += samples / SAMPLE_RATE),
      ended: (cause) => ended(liveId, cause),
      unused: () => void (isCurrent() && lives.delete(liveId)),
    })
    lives.set(liveId, session)
    return session
  }

  const runs: LiveRuns = {
    all: () => [...lives.keys()],
    termOf: (liveId) => lives.get(liveId)?.term ?? null,
    hasSender: (liveId) => admissions.has(liveId) || lives.get(liveId)?.hasSender() === true,
    audioSeconds: (liveId) => {
      const samples = lives.get(liveId)?.receivedSamples()
      return samples === undefined ? null : samples / SAMPLE_RATE
    },
    wrongSamples: (liveId) => lives.get(liveId)?.wrongSamples() ?? null,
    pull: (liveId, live, point) => (signal.aborted ? undefined : run(liveId, live, point).pull()),
    awaitSender: (liveId, live, point, expected) =>
      signal.aborted || lives.has(liveId) ? undefined : run(liveId, live, point).awaitSender(expected),
    finishTranscribing: async (liveId, limitMs) => lives.get(liveId)?.finish(limitMs),
    finishBeforeMove: async (liveId, limitMs) => lives.get(liveId)?.finish(limitMs, true),
    stop: (liveId) => {
      const session = lives.get(liveId)
      if (session?.stage() !== 'ending') session?.settle()
    },
    ended,
    drop,
  }

  return {
    resolveToken: lifecycle.resolveToken,
    attachSender: async (liveId, from = null) => {
      const isClosed = (): boolean => (lives.get(liveId)?.stage() ?? 'open') !== 'open'
      // Checked before the place, because a sender that sent `finish` keeps its place. If it returns over another link,
      // the answer must be LiveOver.
      if (isClosed()) return E.left({ _tag: 'LiveOver' })
      if (runs.hasSender(liveId)) return E.left({ _tag: 'SenderAlreadyConnected' })
      const admission = {}
      admissions.set(liveId, admission)
      try {
        const admitted = await lifecycle.admitSender(liveId)
        if (E.isLeft(admitted)) return admitted
        // The session ended or moved to another worker in the meantime.
        if (admissions.get(liveId) !== admission || isClosed()) return E.left({ _tag: 'LiveOver' })
        const { live, point } = admitted.right
        return E.right(run(liveId, live, point).attach(admitted.right, from))
      } finally {
        if (admissions.get(liveId) === admission) admissions.delete(liveId)
      }
    },
    missed: openMissedFinals({ recent, storedFinals: lifecycle.storedFinals }),
    runs,
    recent,
    endByWorker: (liveId, request) => {
      const end = lives.get(liveId)?.end(request)
      if (end !== undefined) track(end)
      return end ?? null
    },
    flushAll: async (limitMs) => {
      await Promise.all([...lives.keys()].map((liveId) => runs.finishTranscribing(liveId, limitMs)))
    },
    close: async () => {
      closing.abort()
      for (const session of lives.values()) session.settle()
      lives.clear()
      recent.close()
      await Promise.all(pending)
    },
    count: () => lives.size,
    droppedFinals: () => droppedFinals,
    lostSeconds: () => lostSeconds,
  }
}
