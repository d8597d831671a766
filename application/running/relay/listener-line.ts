import * as E from 'fp-ts/lib/Either.js'
import type { EndCause } from '../../../domain/live/events.ts'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import { finalKey, type ResumePoint } from '../../lives/queries/resume-point.ts'
import type { StoredFinal, StoredFinals } from '../../lives/queries/stored-finals.ts'
import type { LiveBus } from '../../pipeline/signals.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import type { Timers } from '../../ports/timers.ts'
import { pause, retryDelay } from '../../waiting.ts'
import type { LiveFinals, RecentFinals } from '../recent-finals.ts'
import type { RelayedSignal } from './link-codecs.ts'
import { createSentFinals } from './sent-finals.ts'

/** After an end in the log, the last finals of the worker are awaited for this time. */
const END_WAIT_MS = 2000
const RETRY = { first: 100, longest: 1000 }
/** Attempts to read the log before an end is reported without the stored finals. */
const MAX_END_READS = 4
/** Number of past segments to read from the log when no worker reports its finals. */
const PAST_SEGMENTS = 100

export interface NewestFinals {
  /** Leadership term of the worker. Each move of the session to another worker begins the next term. */
  readonly term: number
  readonly finals: ReadonlyArray<TranscriptFrame>
  /** True when `finals` contains the first final of the session. */
  readonly isWhole: boolean
  /** Keys of finals that could not be stored. */
  readonly dropped: ReadonlyArray<string>
}

export interface ListenerLineDeps {
  readonly storedFinals: StoredFinals
  readonly recent: RecentFinals
  readonly publish: LiveBus['publish']
  readonly timers: Timers
  readonly environment: Pick<Environment, 'random'>
  readonly logger: Logger
}

/**
 * Sends the captions of a session to the listeners of this process, even if several workers run it one after another.
 * Each final is sent once and in order. Finals that a broken link or a lost worker did not deliver are read from the
 * log.
 */
export interface ListenerLine {
  /** Call this when a worker has answered. Its signals follow. The log must contain all finals of earlier workers. */
  readonly joined: (newest: NewestFinals) => void
  /** Takes a signal of the worker. */
  readonly receive: (signal: RelayedSignal) => void
  /** Call this when the link to the worker is down. */
  readonly down: () => void
  /**
   * Call this when the log contains the end. The end is reported after the last finals of the worker, which come over
   * the link or from the log.
   */
  readonly endedInLog: (cause: EndCause) => void
  /** Stops waiting for a link and reads the past (see `SentFinals`) from the log. */
  readonly readPast: () => void
  readonly hasBegun: () => boolean
  /** Resolves when the past is known, or when the session is over. */
  readonly begun: Promise<void>
  readonly stop: () => void
}

export const createListenerLine = (
  deps: ListenerLineDeps,
  liveId: number,
  onEnd: (cause: EndCause) => void,
): ListenerLine => {
  const { storedFinals, recent, publish, timers, environment, logger } = deps
  const sentFinals = createSentFinals()
  const begun = Promise.withResolvers<void>()
  let memory: LiveFinals | null = null
  let isUp = false
  let isOver = false
  /** Signals that arrived while the log is being read, without drafts. Null when the log is not being read. */
  let held: Array<RelayedSignal> | null = null
  let reading = new AbortController()
  let cancelEndWait: (() => void) | null = null
  /** True when the end is about to be reported. Further signals of a worker are ignored. */
  let isEnding = false
  let isReadingPast = false
  /** Term of the last worker that joined without a gap: all its earlier finals were sent here or are in the past. */
  let joinedTerm: number | null = null

  const keep = (finals: LiveFinals, frame: TranscriptFrame, isDropped: boolean): void => {
    const added = finals.add(frame)
    added.sent()
    if (isDropped) added.dropped()
    else added.stored()
  }

  const send = (frame: TranscriptFrame, isDropped = false): void => {
    sentFinals.add(frame)
    if (memory !== null) keep(memory, frame, isDropped)
    publish(liveId, frame)
  }

  /** @param term term of the last past final, or null when there is no past */
  const begin = (past: ReadonlyArray<TranscriptFrame>, term: number | null, isSent: boolean): LiveFinals => {
    sentFinals.begin(past, term, isSent)
    memory = recent.open(liveId, term === null)
    begun.resolve()
    return memory
  }

  const finish = (cause: EndCause): void => {
    if (isOver) return
    stop()
    onEnd(cause)
  }

  const forward = (signal: RelayedSignal): void => {
    if (signal.kind === 'ended') finish(signal.cause)
    else if (signal.kind === 'started' || !signal.final) publish(liveId, signal)
    else if (!sentFinals.has(signal)) send(signal)
  }

  const release = (): void => {
    const waiting = held ?? []
    held = null
    waiting.forEach(forward)
  }

  const stop = (): void => {
    isOver = true
    reading.abort()
    cancelEndWait?.()
    held = null
    begun.resolve()
  }

  const allFrom = async (point: ResumePoint): Promise<ReadonlyArray<StoredFinal> | null> => {
    const opened = await storedFinals(liveId, point)
    if (E.isLeft(opened)) return null
    const finals: Array<StoredFinal> = []
    for (;;) {
      const page = await opened.right.next()
      if (E.isLeft(page)) return null
      if (page.right === null) return finals
      finals.push(...page.right)
    }
  }

  /** Reads the finals from the log with retries, then calls `use`, unless another read has started. */
  const fromLog = async (
    use: (finals: ReadonlyArray<StoredFinal>) => void,
    attempts: number = Infinity,
  ): Promise<void> => {
    reading.abort()
    reading = new AbortController()
    const { signal } = reading
    const point: ResumePoint = memory === null
      ? { kind: 'last', count: PAST_SEGMENTS }
      : { kind: 'after', segment: sentFinals.readFromSegment() }
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const finals = await allFrom(point).catch((error: unknown) => {
        logger.error({ liveId, error: String(error) }, 'the finals of a session could not be read for its listeners')
        return null
      })
      if (signal.aborted) return
      if (finals !== null) return use(finals)
      if (attempt === attempts) return use([])
      await pause(timers, retryDelay(RETRY, attempt - 1, environment.random()), signal)
    }
  }

  const readPast = (): void => {
    // Called by each failed connection attempt and each waiting socket, so a second call must do nothing.
    if (isReadingPast || held !== null || memory !== null || isOver || isEnding) return
    isReadingPast = true
    void fromLog(takePast).finally(() => { isReadingPast = false })
  }

  const takePast = (past: ReadonlyArray<StoredFinal>): void => void begin(past, past.at(-1)?.term ?? null, false)

  const sendMissing = (stored: ReadonlyArray<StoredFinal>): void => {
    for (const frame of sentFinals.unsent(stored, ({ term }) => term)) send(frame)
  }

  const sendUnsent = ({ finals, dropped, term }: NewestFinals): void => {
    const isDropped = new Set(dropped)
    for (const frame of sentFinals.unsent(finals, () => term)) send(frame, isDropped.has(finalKey(frame)))
    joinedTerm = term
  }

  return {
    joined: (newest) => {
      const { finals, isWhole, dropped, term } = newest
      if (isOver || isEnding) return
      isUp = true
      reading.abort()
      held = null
      if (memory === null && (isWhole || finals.length > 0)) {
        const begunWith = begin(finals, isWhole ? null : term, true)
        joinedTerm = term
        const isDropped = new Set(dropped)
        for (const frame of finals) keep(begunWith, frame, isDropped.has(finalKey(frame)))
        return
      }
      const isOverlapping = joinedTerm === term && finals.some(sentFinals.isKnown)
      if (memory !== null && (isWhole || isOverlapping)) return sendUnsent(newest)
      held = []
      void fromLog((stored) => {
        if (memory === null) takePast(stored)
        else sendMissing(stored)
        sendUnsent(newest)
        release()
      })
    },
    receive: (signal) => {
      if (isOver || isEnding) return
      if (held === null) forward(signal)
      else if (signal.kind === 'started' || signal.kind === 'ended' || signal.final) held.push(signal)
    },
    down: () => {
      if (isOver || isEnding) return
      isUp = false
      held = null
      if (memory === null) readPast()
      else reading.abort()
    },
    readPast: readPast,
    hasBegun: () => memory !== null || isOver,
    endedInLog: (cause) => {
      if (isOver || cancelEndWait !== null) return
      const isErased = cause.status === 'finished' && cause.reason === 'deleted'
      const reportEnd = (): void => {
        isEnding = true
        if (memory === null || isErased) return finish(cause)
        void fromLog((stored) => {
          sendMissing(stored)
          release()
          finish(cause)
        }, MAX_END_READS)
      }
      if (isUp && !isErased) cancelEndWait = timers.after(END_WAIT_MS, reportEnd)
      else reportEnd()
    },
    begun: begun.promise,
    stop: () => {
      if (!isOver) recent.forget(liveId)
      stop()
    },
  }
}
