import * as E from 'fp-ts/lib/Either.js'
import { finalKey } from '../../lives/queries/resume-point.ts'
import type { ResumePoint } from '../../lives/queries/resume-point.ts'
import type { StoredFinal, StoredFinals } from '../../lives/queries/stored-finals.ts'
import type { EndCause, LiveBus, TranscriptFrame } from '../../pipeline/signals.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import type { Timers } from '../../ports/timers.ts'
import { pause, retryDelay } from '../../waiting.ts'
import type { LiveFinals, RecentFinals } from '../recent-finals.ts'
import type { RelayedSignal } from './passed.ts'
import { toldFinals } from './told-finals.ts'

/** Milliseconds that an end in the log waits for the worker's last words. */
const LAST_WORDS = 2000
const RETRY = { first: 100, longest: 1000 }
/** Looks at the log before an end is told without what it holds. */
const LAST_LOOKS = 4
/** Segments before anybody listened that are looked at where no worker tells what it told. */
const PAST_SEGMENTS = 100

/** What a worker told last. */
export interface NewestFinals {
  readonly term: number
  readonly finals: ReadonlyArray<TranscriptFrame>
  readonly isWhole: boolean
  readonly dropped: ReadonlyArray<string>
}

export interface LineDeps {
  readonly storedFinals: StoredFinals
  readonly recent: RecentFinals
  readonly publish: LiveBus['publish']
  readonly timers: Timers
  readonly environment: Pick<Environment, 'random'>
  readonly logger: Logger
}

/**
 * What the listeners of this process hear of a live, whichever workers run it one after another: each final once, in
 * order. What no link told because it broke, or its worker was lost, is read from the log.
 */
export interface Line {
  /** A worker has answered; its signals follow. All that workers before it stored stands in the log by now. */
  readonly joined: (newest: NewestFinals) => void
  readonly hear: (signal: RelayedSignal) => void
  /** No worker is heard. */
  readonly down: () => void
  /** Its terminal event stands: told behind the worker's last words, or what the log has of them. */
  readonly endedInLog: (cause: EndCause) => void
  /** The link is not awaited any longer: the log tells what belongs to the past. */
  readonly lookBack: () => void
  readonly hasBegun: () => boolean
  /** Settles when it is known which finals belong to the past of those who listen now. */
  readonly begun: Promise<void>
  readonly stop: () => void
}

export const createLine = (deps: LineDeps, liveId: number, over: (cause: EndCause) => void): Line => {
  const { storedFinals, recent, publish, timers, environment, logger } = deps
  const told = toldFinals()
  const begun = Promise.withResolvers<void>()
  let memory: LiveFinals | null = null
  let isUp = false
  let isOver = false
  /** What comes while the log is read: drafts are not worth waiting for. */
  let held: Array<RelayedSignal> | null = null
  let reading = new AbortController()
  let lastWords: (() => void) | null = null
  /** The end is about to be told: nothing that a worker says comes before it any more. */
  let isEnding = false
  let isLookingBack = false
  /** Of the last worker whose finals join what was told: another one may have stored some in between. */
  let joinedTerm: number | null = null

  const keep = (finals: LiveFinals, frame: TranscriptFrame, isDropped: boolean): void => {
    const added = finals.add(frame)
    added.told()
    if (isDropped) added.dropped()
    else added.stored()
  }

  const tell = (frame: TranscriptFrame, isDropped = false): void => {
    told.add(frame)
    if (memory !== null) keep(memory, frame, isDropped)
    publish(liveId, frame)
  }

  /** @param term of the last of them; null: there is no past */
  const begin = (past: ReadonlyArray<TranscriptFrame>, term: number | null, isTold: boolean): LiveFinals => {
    told.begin(past, term, isTold)
    memory = recent.open(liveId, term === null)
    begun.resolve()
    return memory
  }

  const finish = (cause: EndCause): void => {
    if (isOver) return
    stop()
    over(cause)
  }

  const pass = (signal: RelayedSignal): void => {
    if (signal.kind === 'ended') finish(signal.cause)
    else if (signal.kind === 'started' || !signal.final) publish(liveId, signal)
    else if (!told.has(signal)) tell(signal)
  }

  const release = (): void => {
    const waiting = held ?? []
    held = null
    waiting.forEach(pass)
  }

  const stop = (): void => {
    isOver = true
    reading.abort()
    lastWords?.()
    held = null
    begun.resolve()
  }

  const allFrom = async (point: ResumePoint): Promise<ReadonlyArray<StoredFinal> | null> => {
    const opened = await storedFinals(liveId, point)()
    if (E.isLeft(opened)) return null
    const finals: Array<StoredFinal> = []
    for (;;) {
      const page = await opened.right.next()
      if (E.isLeft(page)) return null
      if (page.right === null) return finals
      finals.push(...page.right)
    }
  }

  /** Tries until the log answers, or so many times; then `use` gets what there is, unless something came in between. */
  const fromLog = async (
    use: (finals: ReadonlyArray<StoredFinal>) => void,
    attempts: number = Infinity,
  ): Promise<void> => {
    reading.abort()
    reading = new AbortController()
    const { signal } = reading
    const point: ResumePoint =
      memory === null ? { kind: 'last', count: PAST_SEGMENTS } : { kind: 'after', segment: told.lookFrom() }
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const finals = await allFrom(point).catch((error: unknown) => {
        logger.error({ liveId, error: String(error) }, 'the finals of a live could not be read for its listeners')
        return null
      })
      if (signal.aborted) return
      if (finals !== null) return use(finals)
      if (attempt === attempts) return use([])
      await pause(timers, retryDelay(RETRY, attempt - 1, environment.random()), signal)
    }
  }

  const lookBack = (): void => {
    // Each dial that comes to nothing asks for it, and each socket that waits while a worker is up: what comes is held then.
    if (isLookingBack || held !== null || memory !== null || isOver || isEnding) return
    isLookingBack = true
    void fromLog(takePast).finally(() => { isLookingBack = false })
  }

  const takePast = (past: ReadonlyArray<StoredFinal>): void => void begin(past, past.at(-1)?.term ?? null, false)

  const tellMissing = (stored: ReadonlyArray<StoredFinal>): void => {
    for (const frame of told.owed(stored, (one) => one.term)) tell(frame)
  }

  const tellOwed = ({ finals, dropped, term }: NewestFinals): void => {
    const isDropped = new Set(dropped)
    for (const frame of told.owed(finals, () => term)) tell(frame, isDropped.has(finalKey(frame)))
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
      const isOverlapping = joinedTerm === term && finals.some(told.isKnown)
      if (memory !== null && (isWhole || isOverlapping)) return tellOwed(newest)
      held = []
      void fromLog((stored) => {
        if (memory === null) takePast(stored)
        else tellMissing(stored)
        tellOwed(newest)
        release()
      })
    },
    hear: (signal) => {
      if (isOver || isEnding) return
      if (held === null) pass(signal)
      else if (signal.kind === 'started' || signal.kind === 'ended' || signal.final) held.push(signal)
    },
    down: () => {
      if (isOver || isEnding) return
      isUp = false
      held = null
      if (memory === null) lookBack()
      else reading.abort()
    },
    lookBack,
    hasBegun: () => memory !== null || isOver,
    endedInLog: (cause) => {
      if (isOver || lastWords !== null) return
      const isErased = cause.status === 'finished' && cause.reason === 'deleted'
      const look = (): void => {
        isEnding = true
        if (memory === null || isErased) return finish(cause)
        void fromLog((stored) => {
          tellMissing(stored)
          release()
          finish(cause)
        }, LAST_LOOKS)
      }
      if (isUp && !isErased) lastWords = timers.after(LAST_WORDS, look)
      else look()
    },
    begun: begun.promise,
    stop: () => {
      if (!isOver) recent.forget(liveId)
      stop()
    },
  }
}
