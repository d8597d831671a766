import * as E from 'fp-ts/lib/Either.js'
import { isHurt } from '../errors.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { CreatePipeline } from '../pipeline/pipeline.ts'
import type { EndCause, LiveBus, TranscriptFrame } from '../pipeline/signals.ts'
import type { AttachedLive, LiveLifecycle, LiveSessions, SourcePoint } from '../services.ts'
import { createHeardSequences } from './heard-sequences.ts'
import { openMissedFinals } from './missed-finals.ts'
import { createRecentFinals } from './recent-finals.ts'
import { createRunningLive } from './running-live.ts'
import { createSenderSession } from './sender-session.ts'
import { BEGINNING, withSource } from './sourced-live.ts'
import type { SourcedLive } from './sourced-live.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'
import type { Translations } from '../translation/translations.ts'
import type { LiveEnd } from '../lives/policies/watch-ends.ts'

export interface LiveSessionsOptions {
  readonly lifecycle: LiveLifecycle
  readonly createPipeline: CreatePipeline
  readonly startPuller: StartPuller
  readonly translations: Pick<Translations, 'ofLive'>
  readonly bus: LiveBus
  /** Terminal events of any process, from before the first sender can attach until the signal aborts (see watchEnds). */
  readonly ends: (signal: AbortSignal) => AsyncIterable<LiveEnd>
  readonly logger: Logger
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  /** Milliseconds for which a live waits for a sender that was lost; 0 not at all (RECONNECT_GRACE). */
  readonly reconnectGrace: number
  /** Finals of each live that are kept in memory for sockets that come back; 500 unless told. */
  readonly keptFinals?: number
}

export interface RunningSessions extends LiveSessions {
  /** Lives with a sender or a pipeline in this process. */
  readonly count: () => number
  /** Finals since the start of this process that no store has or ever will have. */
  readonly droppedFinals: () => number
  /** Lets every pipeline speak out, for a drain; the lives stay as they are. */
  readonly flushAll: (limitMs: number) => Promise<void>
}

const RETRY = { first: 100, longest: 5000 }
/** Of Node's timers. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Orchestrates senders, pipelines and the write side; the log decides how and when a live ends. */
export const createLiveSessions = (options: LiveSessionsOptions): RunningSessions => {
  const { lifecycle, bus, logger, timers, environment } = options
  const lives = new Map<number, SourcedLive>()
  const recent = createRecentFinals(timers, options.keptFinals)
  /** Lives that wait for another sender: how to stop that. */
  const waiting = new Map<number, () => void>()
  const closing = new AbortController()
  const pending = new Set<Promise<unknown>>()
  let droppedFinals = 0

  const track = (work: Promise<unknown>): void => {
    pending.add(work)
    void work.finally(() => pending.delete(work))
  }

  const waitNoMore = (liveId: number): void => {
    waiting.get(liveId)?.()
    waiting.delete(liveId)
  }

  const waitFor = (liveId: number, expired: () => void): void => {
    waitNoMore(liveId)
    const cancel = timers.after(Math.min(options.reconnectGrace, LONGEST_TIMER_MS), () => {
      waiting.delete(liveId)
      expired()
    })
    waiting.set(liveId, cancel)
  }

  const settle = (liveId: number, cause: EndCause): void => {
    waitNoMore(liveId)
    lives.get(liveId)?.settle()
    lives.delete(liveId)
    recent.ended(liveId, cause.status === 'finished' && cause.reason === 'deleted')
    bus.publish(liveId, { kind: 'ended', cause })
  }

  const follow = async (): Promise<void> => {
    for await (const { liveId, cause, listed } of options.ends(closing.signal)) track(listed.then(() => settle(liveId, cause)))
  }
  const following = follow()

  const run = (liveId: number, live: AttachedLive, point: SourcePoint = BEGINNING): SourcedLive => {
    const present = lives.get(liveId)
    if (present !== undefined) return present
    const ended = (cause: EndCause): void => settle(liveId, cause)
    const dropped = (final: Pick<TranscriptFrame, 'segment' | 'kind' | 'language'>): void => {
      droppedFinals += 1
      logger.error({ liveId, ...final }, 'a final is in no store: only memory tells it to who comes back')
    }
    const finals = recent.open(liveId, point.nextSegment === 1)
    const sequences = createHeardSequences(point.mediaSequence)
    const running = createRunningLive({ ...options, liveId, live, point, finals, sequences, signal: closing.signal, track, dropped, ended })
    const sourced = withSource({ ...options, liveId, live, point, running, sequences, track })
    lives.set(liveId, sourced)
    return sourced
  }

  const autoStart = async (liveId: number): Promise<void> => {
    for (let attempt = 0; !closing.signal.aborted; attempt += 1) {
      const found = await lifecycle.autoStarted(liveId)()
      if (E.isRight(found)) {
        if (found.right === null || closing.signal.aborted) return
        const { live, point } = found.right
        const running = run(liveId, live, point)
        if (running.isIdle()) running.configure(live.config)
        return running.startSource()
      }
      // Nobody knows where it stood, nor whether it is over: not before somebody sees to its data.
      const refusal = found.left._tag
      if (isHurt(found.left)) return logger.error({ liveId, refusal }, 'a live cannot be read: its source stays away')
      logger.warn({ liveId, refusal: found.left._tag, attempt }, 'an auto-started live could not be read; trying again')
      await pause(timers, retryDelay(RETRY, attempt, environment.random()), closing.signal)
    }
  }

  return {
    resolveToken: lifecycle.resolveToken,
    attachSender: (liveId) => async () => {
      const attached = await lifecycle.attachSender(liveId)()
      if (E.isLeft(attached)) return attached
      waitNoMore(liveId)
      const running = run(liveId, attached.right)
      const detached = (): void => {
        // Without a pipeline there is nothing to keep: the next sender opens the live anew.
        if (running.isIdle() && lives.get(liveId) === running) lives.delete(liveId)
      }
      return E.right(createSenderSession({
        liveId, live: attached.right, running, lifecycle, detached,
        waiting: options.reconnectGrace === 0 ? null : (expired) => waitFor(liveId, expired),
      }))
    },
    missed: openMissedFinals({ recent, storedFinals: lifecycle.storedFinals }),
    autoStart: async (liveId) => {
      const work = autoStart(liveId)
      track(work)
      await work
    },
    flush: async (liveId, limitMs) => lives.get(liveId)?.finish(limitMs),
    flushAll: async (limitMs) => {
      await Promise.all([...lives.values()].map(async (running) => running.finish(limitMs)))
    },
    close: async () => {
      closing.abort()
      for (const running of lives.values()) running.settle()
      lives.clear()
      for (const liveId of waiting.keys()) waitNoMore(liveId)
      recent.close()
      await Promise.all([...pending, following])
    },
    count: () => lives.size,
    droppedFinals: () => droppedFinals,
  }
}
