import * as E from 'fp-ts/lib/Either.js'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { EndByWorker } from '../lives/end-by-worker.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import { SAMPLE_RATE } from '../ports/engine.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EndCause, LiveBus, TranscriptFrame } from '../pipeline/signals.ts'
import { createHeardSequences } from './heard-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { openMissedFinals } from './missed-finals.ts'
import { createRecentFinals } from './recent-finals.ts'
import type { RecentFinals } from './recent-finals.ts'
import { createRunningLive } from './running-live.ts'
import type { Speech } from './running-live.ts'
import { createSenderSession } from './sender-session.ts'
import type { LiveRuns } from './runs/live-runs.ts'
import type { LiveSessions } from './runs/socket-sessions.ts'
import { withSource } from './sourced-live.ts'
import type { SourcedLive } from './sourced-live.ts'
import { createWriteQueue } from './write-queue.ts'
import type { Timers } from '../ports/timers.ts'

export interface LiveSessionsOptions extends Speech {
  readonly lifecycle: LiveLifecycle
  readonly startPuller: StartPuller
  readonly bus: LiveBus
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  readonly timers: Timers
  /** Milliseconds for which a live waits for a sender that was lost; 0 not at all (RECONNECT_GRACE). */
  readonly reconnectGrace: number
  /** The log may name a sender of the live that was never told so. */
  readonly unsure: (liveId: number) => void
  /** Finals of each live that are kept in memory for sockets that come back; 500 unless told. */
  readonly keptFinals?: number
}

export interface RunningSessions extends LiveSessions {
  readonly runs: LiveRuns
  readonly endByWorker: EndByWorker
  /** What this worker told of its lives. */
  readonly recent: Pick<RecentFinals, 'of'>
  /** Lives with a sender or a pipeline in this process. */
  readonly count: () => number
  /** Finals since the start of this process that no store has or ever will have. */
  readonly droppedFinals: () => number
  /** Seconds of audio of URL sources since the start of this process that were lost and stand as gaps. */
  readonly lostSeconds: () => number
  /** Lets every pipeline speak out, for a drain; the lives stay as they are. */
  readonly flushAll: (limitMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

interface Run {
  readonly term: number
  /** Samples of the live before the first that runs here. */
  readonly begun: number
  readonly running: SourcedLive
}

/** Of Node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Orchestrates senders, pipelines and the write side; the log decides how and when a live ends. */
export const createLiveSessions = (options: LiveSessionsOptions): RunningSessions => {
  const { lifecycle, bus, logger, timers, environment } = options
  const lives = new Map<number, Run>()
  /** Who has the place of a live's sender, from before the log is told. */
  const places = new Map<number, object>()
  const recent = createRecentFinals(timers, options.keptFinals)
  /** Lives that wait for another sender: how to stop that. */
  const waiting = new Map<number, () => void>()
  const closing = new AbortController()
  const pending = new Set<Promise<unknown>>()
  let [droppedFinals, lostSeconds] = [0, 0]

  const track = (work: Promise<unknown>): void => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }

  const waitNoMore = (liveId: number): void => {
    waiting.get(liveId)?.()
    waiting.delete(liveId)
  }

  const waitFor = (liveId: number, ms: number, expired: () => void): void => {
    waitNoMore(liveId)
    const cancel = timers.after(Math.min(ms, LONGEST_TIMER_MS), () => {
      waiting.delete(liveId)
      expired()
    })
    waiting.set(liveId, cancel)
  }

  const forget = (liveId: number): void => {
    waitNoMore(liveId)
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
    logger.warn({ liveId }, 'another worker has the live: what runs here of it is dropped')
    forget(liveId)
    recent.forget(liveId)
    bus.publish(liveId, { kind: 'moved' })
  }

  const run = (liveId: number, live: AttachedLive, point: SourcePoint): SourcedLive => {
    const present = lives.get(liveId)
    if (present !== undefined) return present.running
    const dropped = (final: Pick<TranscriptFrame, 'segment' | 'kind' | 'language'>): void => {
      droppedFinals += 1
      logger.error({ liveId, ...final }, 'a final is in no store: only memory tells it to who comes back')
    }
    const finals = recent.open(liveId, point.nextSegment === 1)
    const sequences = createHeardSequences(point.mediaSequence)
    const { signal } = closing
    const superseded = (): void => {
      if (lives.get(liveId)?.running === sourced) drop(liveId)
    }
    const writes = createWriteQueue({ liveId, logger, timers, environment, signal, track, superseded })
    const memory = { finals, sequences }
    const lost = (seconds: number): void => void (lostSeconds += seconds)
    const told = { dropped, lost, ended: (cause: EndCause) => ended(liveId, cause) }
    const running = createRunningLive({
      liveId, live, point, lifecycle, writes, speech: options, bus, memory, logger, timers, signal, told,
    })
    const sourced = withSource({ ...options, liveId, live, point, running, sequences, track })
    lives.set(liveId, { term: live.term, begun: point.sampleOffset, running: sourced })
    return sourced
  }

  /** Who was told that it cannot come, or nothing, has no place: the log may name it all the same, now or later. */
  const attach = async (liveId: number, leave: () => void) => {
    const attached = await lifecycle.attachSender(liveId)()
    if (E.isRight(attached)) return attached
    leave()
    options.unsure(liveId)
    return attached
  }

  const runs: LiveRuns = {
    all: () => [...lives.keys()],
    termOf: (liveId) => lives.get(liveId)?.term ?? null,
    hasSender: (liveId) => places.has(liveId),
    audioSeconds: (liveId) => {
      const live = lives.get(liveId)
      return live === undefined ? null : (live.begun + live.running.heardSamples()) / SAMPLE_RATE
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
    speakOut: async (liveId, limitMs) => lives.get(liveId)?.running.finish(limitMs),
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
      // Before its place is looked at: whoever said the last word keeps it, and may ask again through another link.
      if (present !== undefined && present.stage() !== 'open') return E.left({ _tag: 'LiveOver' })
      if (places.has(liveId)) return E.left({ _tag: 'SenderAlreadyConnected' })
      const place = {}
      places.set(liveId, place)
      const leave = (): void => {
        if (places.get(liveId) === place) places.delete(liveId)
      }
      const attached = await attach(liveId, leave)
      if (E.isLeft(attached)) return attached
      // It ended, or another worker was given it, while the log was told.
      if (places.get(liveId) !== place) return E.left({ _tag: 'LiveOver' })
      waitNoMore(liveId)
      const { live, point } = attached.right
      const running = run(liveId, live, point)
      const detached = (): void => {
        leave()
        // Without a pipeline there is nothing to keep: the next sender opens the live anew.
        const isUnused = running.isIdle() && running.stage() === 'open'
        if (isUnused && lives.get(liveId)?.running === running) lives.delete(liveId)
      }
      const wait = (ms: number, expired: () => void): void => (leave(), waitFor(liveId, ms, expired))
      const { begun } = lives.get(liveId) ?? { begun: point.sampleOffset }
      const waiting = { detached, wait, grace: options.reconnectGrace }
      return E.right(createSenderSession({ liveId, live, running, lifecycle, ...waiting, begun, from }))
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
      await Promise.all([...lives.keys()].map((liveId) => runs.speakOut(liveId, limitMs)))
    },
    close: async () => {
      closing.abort()
      for (const { running } of lives.values()) running.settle()
      lives.clear()
      for (const liveId of waiting.keys()) waitNoMore(liveId)
      recent.close()
      await Promise.all(pending)
    },
    count: () => lives.size,
    droppedFinals: () => droppedFinals,
    lostSeconds: () => lostSeconds,
  }
}
