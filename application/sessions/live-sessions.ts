import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { isHurt } from '../errors.ts'
import type { LiveOver, SenderAlreadyConnected, Unavailable } from '../errors.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { Flush } from '../lives/last-words.ts'
import type { LiveEnd } from '../lives/policies/watch-ends.ts'
import type { ResumePoint } from '../lives/queries/resume-point.ts'
import { BEGINNING } from '../lives/source-point.ts'
import type { SourcePoint } from '../lives/source-point.ts'
import type { StartPuller } from '../ports/audio-source.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { ResolveToken } from '../ports/read-models.ts'
import type { EndCause, LiveBus, TranscriptFrame } from '../pipeline/signals.ts'
import { createHeardSequences } from './heard-sequences.ts'
import type { LiveLifecycle } from './live-lifecycle.ts'
import { openMissedFinals } from './missed-finals.ts'
import type { MissedFinals } from './missed-finals.ts'
import { createRecentFinals } from './recent-finals.ts'
import { createRunningLive } from './running-live.ts'
import type { Speech } from './running-live.ts'
import { createSenderSession } from './sender-session.ts'
import type { SenderSession } from './sender-session.ts'
import { withSource } from './sourced-live.ts'
import type { SourcedLive } from './sourced-live.ts'
import { createWriteQueue } from './write-queue.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

/** The lives that run in this process: what the socket server talks to. */
export interface LiveSessions {
  readonly resolveToken: ResolveToken
  /** As the lifecycle's, with the session of the sender that won. */
  readonly attachSender: (liveId: number) => TaskEither<SenderAlreadyConnected | LiveOver | Unavailable, SenderSession>
  /** The finals that a socket missed; for open lives and for those that ended less than a minute ago (D58). */
  readonly missed: (liveId: number, point: ResumePoint) => TaskEither<Unavailable, MissedFinals>
  /** Pulls the source of an open auto-started live; does nothing for any other live. Resolves when it has begun. */
  readonly autoStart: (liveId: number) => Promise<void>
  readonly flush: Flush
  readonly close: () => Promise<void>
}

export interface LiveSessionsOptions extends Speech {
  readonly lifecycle: LiveLifecycle
  readonly startPuller: StartPuller
  readonly bus: LiveBus
  /** Terminal events of any process, from before the first sender can attach until the signal aborts. */
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
    for await (const { liveId, cause, listed } of options.ends(closing.signal))
      track(listed.then(() => settle(liveId, cause)))
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
    const { signal } = closing
    const writes = createWriteQueue({ liveId, logger, timers, environment, signal, track })
    const memory = { finals, sequences }
    const told = { dropped, ended }
    const running = createRunningLive({
      liveId, live, point, lifecycle, writes, speech: options, bus, memory, logger, timers, signal, told,
    })
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
