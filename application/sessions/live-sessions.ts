import * as E from 'fp-ts/lib/Either.js'
import { NO_BUDGET } from '../budget.ts'
import type { DailyBudget } from '../budget.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { EndByWorker } from '../lives/end-by-worker.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EndCause, LiveBus, TranscriptFrame } from '../pipeline/signals.ts'
import { createReceivedSequences } from './received-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { openMissedFinals } from './missed-finals.ts'
import { createRecentFinals } from './recent-finals.ts'
import type { RecentFinals } from './recent-finals.ts'
import { createRunningLive } from './running-live.ts'
import type { CaptionServices } from './running-live.ts'
import { createSenderSession } from './sender-session.ts'
import type { LiveRuns } from './runs/live-runs.ts'
import type { LiveSessions } from './runs/socket-sessions.ts'
import { withSource } from './sourced-live.ts'
import type { SourcedLive } from './sourced-live.ts'
import { createWriteQueue } from './write-queue.ts'
import type { Timers } from '../ports/timers.ts'

export interface LiveSessionsOptions extends CaptionServices {
  readonly lifecycle: LiveLifecycle
  readonly startPuller: StartPuller
  readonly bus: LiveBus
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  readonly timers: Timers
  /** Milliseconds for which a session waits for a lost sender (RECONNECT_GRACE). 0: it does not wait. */
  readonly reconnectGrace: number
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

interface Run {
  readonly term: number
  /** Samples of the session before this process took it over. */
  readonly earlierSamples: number
  readonly running: SourcedLive
}

/** Connects senders, pipelines and the write side. The log decides how and when a session ends. */
export const createLiveSessions = (options: LiveSessionsOptions): RunningSessions => {
  const { lifecycle, bus, logger, timers, environment, budget = NO_BUDGET } = options
  const lives = new Map<number, Run>()
  /** By session id: the sender that holds the only sender place of the session. The log may not record it yet. */
  const places = new Map<number, object>()
  const recent = createRecentFinals(timers, options.keptFinals)
  /** Sessions that wait for another sender, with the function that stops the wait. */
  const waiting = new Map<number, () => void>()
  const closing = new AbortController()
  const pending = new Set<Promise<unknown>>()
  let [droppedFinals, lostSeconds] = [0, 0]

  const track = (work: Promise<unknown>): void => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }

  const stopWaiting = (liveId: number): void => {
    waiting.get(liveId)?.()
    waiting.delete(liveId)
  }

  const waitFor = (liveId: number, ms: number, expired: () => void): void => {
    stopWaiting(liveId)
    const cancel = timers.after(ms, () => {
      waiting.delete(liveId)
      expired()
    })
    waiting.set(liveId, cancel)
  }

  const forget = (liveId: number): void => {
    stopWaiting(liveId)
    lives.get(liveId)?.running.settle()
    lives.delete(liveId)
    places.delete(liveId)
  }

  const ended = (liveId: number, cause: EndCause): void => {
    forget(liveId)
    recent.ended(liveId, cause.status === 'finished' && cause.reason === 'deleted')
    bus.publish(liveId, { kind: 'ended', cause })
  }

  const drop = (liveId: number): void => {
    if (!lives.has(liveId) && !places.has(liveId)) return
    logger.warn({ liveId }, 'another worker runs the session: it is stopped here')
    forget(liveId)
    recent.forget(liveId)
    bus.publish(liveId, { kind: 'moved' })
  }

  const run = (liveId: number, live: AttachedLive, point: SourcePoint): SourcedLive => {
    const present = lives.get(liveId)
    if (present !== undefined) return present.running
    const dropped = (final: Pick<TranscriptFrame, 'segment' | 'kind' | 'language'>): void => {
      droppedFinals += 1
      logger.error({ liveId, ...final }, 'a final could not be stored: only memory holds it')
    }
    const finals = recent.open(liveId, point.nextSegment === 1)
    const sequences = createReceivedSequences(point.mediaSequence)
    const { signal } = closing
    const superseded = (): void => {
      if (lives.get(liveId)?.running === sourced) drop(liveId)
    }
    const writes = createWriteQueue({ liveId, logger, timers, environment, signal, track, superseded })
    const memory = { finals, sequences }
    const lost = (seconds: number): void => void (lostSeconds += seconds)
    const callbacks = { dropped, lost, ended: (cause: EndCause) => ended(liveId, cause) }
    const running = createRunningLive({
      liveId, live, point, lifecycle, writes, speech: options, bus, memory, logger, timers, signal, callbacks,
    })
    const sourced = withSource({ ...options, liveId, live, point, running, sequences, track })
    lives.set(liveId, { term: live.term, earlierSamples: point.sampleOffset, running: sourced })
    return sourced
  }

  const runs: LiveRuns = {
    all: () => [...lives.keys()],
    termOf: (liveId) => lives.get(liveId)?.term ?? null,
    hasSender: (liveId) => places.has(liveId),
    audioSeconds: (liveId) => {
      const live = lives.get(liveId)
      return live === undefined ? null : (live.earlierSamples + live.running.receivedSamples()) / SAMPLE_RATE
    },
    pull: (liveId, live, point) => {
      if (closing.signal.aborted) return
      const running = run(liveId, live, point)
      if (running.isIdle()) running.configure(live.config)
      running.startSource()
    },
    awaitSender: (liveId, live, point, { graceMs, cause, origin }) => {
      if (closing.signal.aborted || lives.has(liveId)) return
      const running = run(liveId, live, point)
      running.configure(live.config)
      waitFor(liveId, graceMs, () => track(running.end(cause, origin)))
    },
    finishTranscribing: async (liveId, limitMs) => lives.get(liveId)?.running.finish(limitMs),
    finishBeforeMove: async (liveId, limitMs) => lives.get(liveId)?.running.finish(limitMs, true),
    stop: (liveId) => {
      const running = lives.get(liveId)?.running
      if (running !== undefined && running.stage() !== 'ending') running.settle()
    },
    ended,
    drop,
  }

  return {
    resolveToken: lifecycle.resolveToken,
    attachSender: (liveId, from = null) => async () => {
      const present = lives.get(liveId)?.running
      // Checked before the place, because a sender that sent `finish` keeps its place. If it returns over another link,
      // the answer must be LiveOver.
      if (present !== undefined && present.stage() !== 'open') return E.left({ _tag: 'LiveOver' })
      if (places.has(liveId)) return E.left({ _tag: 'SenderAlreadyConnected' })
      const place = {}
      places.set(liveId, place)
      const leave = (): void => {
        if (places.get(liveId) === place) places.delete(liveId)
      }
      const admitted = await lifecycle.admitSender(liveId)()
      if (E.isLeft(admitted)) {
        leave()
        return admitted
      }
      // The session ended or moved to another worker in the meantime.
      if (places.get(liveId) !== place) return E.left({ _tag: 'LiveOver' })
      stopWaiting(liveId)
      const { live, point } = admitted.right
      const running = run(liveId, live, point)
      const detached = (): void => {
        leave()
        // A session without a pipeline has no state to keep. The next sender starts it again.
        const isUnused = running.isIdle() && running.stage() === 'open'
        if (isUnused && lives.get(liveId)?.running === running) lives.delete(liveId)
      }
      const wait = (ms: number, expired: () => void): void => (leave(), waitFor(liveId, ms, expired))
      const { earlierSamples } = lives.get(liveId) ?? { earlierSamples: point.sampleOffset }
      const departure = { detached, wait, grace: options.reconnectGrace }
      return E.right(
        createSenderSession({
          liveId, sender: admitted.right, running, lifecycle, timers, ...departure, earlierSamples, from, budget,
        }),
      )
    },
    missed: openMissedFinals({ recent, storedFinals: lifecycle.storedFinals }),
    runs,
    recent,
    endByWorker: (liveId, { cause, origin, limitMs }) => {
      const running = lives.get(liveId)?.running
      if (running === undefined) return null
      const end = running.finish(limitMs).then(() => running.end(cause, origin))
      track(end)
      return end
    },
    flushAll: async (limitMs) => {
      await Promise.all([...lives.keys()].map((liveId) => runs.finishTranscribing(liveId, limitMs)))
    },
    close: async () => {
      closing.abort()
      for (const { running } of lives.values()) running.settle()
      lives.clear()
      for (const liveId of waiting.keys()) stopWaiting(liveId)
      recent.close()
      await Promise.all(pending)
    },
    count: () => lives.size,
    droppedFinals: () => droppedFinals,
    lostSeconds: () => lostSeconds,
  }
}
