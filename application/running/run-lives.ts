import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ADMISSION_STREAM, Moved, WorkerLeft, WorkerRestarted } from '../../domain/admission/events.ts'
import {
  FIRST_TERM, LiveCreated, LiveFailed, LiveFinished, LiveTakenOver, SenderAttached,
} from '../../domain/live/events.ts'
import { eventReader } from '../../domain/read-event.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import { mapConcurrently } from '../concurrency.ts'
import { isUnreadable, type Unavailable } from '../refusals.ts'
import { releaseLive } from '../lives/ending.ts'
import { detectEnds } from '../lives/policies/detect-ends.ts'
import { originOf } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { Position, StoredEvent } from '../ports/event-store.ts'
import { type Projector, SESSION_LISTS } from '../ports/projector.ts'
import { ownSessions, ownTerm } from '../lives/ownership/own-sessions.ts'
import { createOutage } from '../outages.ts'
import { pause, retryDelay } from '../waiting.ts'
import { settleLive, type SettleLiveDeps, waitsForSender } from './settle-live.ts'

export interface RunLivesDeps extends SettleLiveDeps, Pick<Projector, 'whenProjected'> {
  readonly logger: Logger
  /** Called when the log records this run of the worker as lost, so its sessions belong to other workers. */
  readonly onLost?: () => void
  /** Called when these sessions may run elsewhere, or in another term. The caller must check the links to them. */
  readonly onMoved?: (liveIds: ReadonlyArray<number>) => void
}

/** Runs the sessions that the log assigns to this worker. */
export interface RunLives {
  /**
   * Settles the session of every reservation of this worker, then follows the log. To settle a session means to start,
   * stop or end it here as the log requires (see `settle-live.ts`). The service must not serve requests before it
   * succeeds. Returns the sessions that wait for their first sender, which nothing was done for. Left: a store is
   * unavailable, so call it again. Sessions with damaged data stay as they are.
   */
  readonly start: () => Promise<Either<Unavailable, ReadonlySet<number>>>
  /** Settles a session again, with retries while a store is unavailable. */
  readonly settle: (liveId: number) => void
  readonly stop: () => Promise<void>
}

/**
 * Sessions that are settled at the same time at the start. One that waits for its first sender costs one read, any
 * other one a few reads and at most three appends.
 */
const SETTLES_AT_ONCE = 32
const RETRY = { first: 100, longest: 5000 }

/** Reads the events that change which sessions run here. */
const relevantEvent = eventReader([
  LiveCreated, LiveFinished, LiveFailed, SenderAttached, LiveTakenOver, Moved, WorkerLeft, WorkerRestarted,
])

/**
 * Starts and stops the sessions of this worker according to the log. It settles a session that was created or moved,
 * and stops a session that has ended, even if another process wrote the event. Only this module starts sources.
 */
export const runLives = (deps: RunLivesDeps): RunLives => {
  const { store, admission, runs, worker, environment, timers, logger, whenProjected } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const settleOne = settleLive(deps)
  const starts = createOutage(
    deps, 'a session could not be started or stopped; trying again', 'sessions start and stop again',
  )
  const subscription = createOutage(
    deps, 'the subscription to sessions was lost', 'the subscription to sessions works again',
  )
  /** Sessions that are being settled. True: settle the session again, because another event arrived. */
  const settling = new Map<number, boolean>()
  const working = new Set<Promise<void>>()
  const completedBy = detectEnds()

  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => logger.error({ error: String(error) }, 'an event of a session could not be handled'))
      .finally(() => working.delete(guarded))
    working.add(guarded)
  }

  /** Retries until done. Damaged data is not retried, because an operator must repair it. */
  const retryUntilDone = async (liveId: number, work: () => Promise<E.Either<Unavailable, void>>): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const done = await work()
      if (E.isRight(done)) return starts.ended()
      const refusal = done.left._tag
      if (isUnreadable(done.left)) return logger.error({ liveId, refusal }, 'the data of a session is damaged')
      starts.failed(refusal, { liveId })
      await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
    }
  }

  /** Settles a session, and again if another event arrived in the meantime. */
  const settleInTurn = async (liveId: number): Promise<void> => {
    try {
      do {
        settling.set(liveId, false)
        await retryUntilDone(liveId, () => settleOne(liveId))
      } while (settling.get(liveId) === true && !signal.aborted)
    } finally {
      settling.delete(liveId)
    }
  }

  const settle = (liveId: number): void => {
    if (settling.has(liveId)) settling.set(liveId, true)
    else track(settleInTurn(liveId))
  }

  const release = async (liveId: number): Promise<void> =>
    retryUntilDone(liveId, () => releaseLive(deps, liveId, originOf(deps, 'service')))

  const isMine = (liveId: number): boolean => ownTerm(deps, liveId) !== null

  /** A new session that waits for its sender is not settled, which saves the reads. */
  const handleCreated = async (liveId: number, autoStart: boolean): Promise<void> => {
    // Another process may have admitted the session.
    if (!isMine(liveId)) await admission.refresh()
    if (autoStart || ownTerm(deps, liveId) !== FIRST_TERM) settle(liveId)
  }

  const handleEnded = (liveId: number): void => {
    runs.stop(liveId)
    if (isMine(liveId)) track(release(liveId))
  }

  /** Reads the admissions first, because the state in memory still assigns the sessions to this worker. */
  const handleMoved = async (liveIds: ReadonlyArray<number>): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const refreshed = await admission.refresh()
      if (E.isRight(refreshed) || isUnreadable(refreshed.left)) break
      await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
    }
    liveIds.forEach(settle)
    deps.onMoved?.(liveIds)
  }

  /** Settles all sessions, because this worker may run none of them any more. No Moved event may name them. */
  const handleReplaced = async (event: EventOf<typeof WorkerLeft | typeof WorkerRestarted>): Promise<void> => {
    if (event.data.worker !== worker.name) return
    await handleMoved(runs.all())
    const isLost = event.type === WorkerLeft.type && event.data.reason === 'lost'
    if (isLost && event.data.incarnation === worker.incarnation) deps.onLost?.()
  }

  const isJoined = (): boolean =>
    admission.state().workers.some(({ incarnation }) => incarnation === worker.incarnation)

  const handle = async (event: StoredEvent): Promise<void> => {
    const known = relevantEvent(event)
    switch (known?.type) {
      case undefined:
        return
      case 'LiveCreated':
        return await handleCreated(known.data.liveId, known.data.autoStart)
      case 'LiveFinished':
      case 'LiveFailed':
        return handleEnded(known.data.liveId)
      case 'SenderAttached':
        return runs.hasSender(known.data.liveId) || !isMine(known.data.liveId)
          ? undefined
          : settle(known.data.liveId)
      case 'LiveTakenOver':
        return (runs.termOf(known.data.liveId) ?? known.data.term) < known.data.term
          ? settle(known.data.liveId)
          : undefined
      case 'Moved':
        return await handleMoved([known.data.liveId])
      case 'WorkerRestarted':
      case 'WorkerLeft':
        return await handleReplaced(known)
    }
  }

  /** Reports an end once the read models show it, at most 2 s later. */
  const reportEnd = (event: StoredEvent): void => {
    const end = completedBy(event)
    if (end === undefined) return
    track(whenProjected(SESSION_LISTS, end.position).then(() => runs.ended(end.liveId, end.cause)))
  }

  const follow = async (from: Position): Promise<void> => {
    let position = from
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        for await (const message of store.subscribe(position, ['live-', ADMISSION_STREAM], signal)) {
          failures = 0
          subscription.ended()
          if (message.kind === 'event') {
            await handle(message.event)
            reportEnd(message.event)
          }
          position = message.kind === 'event' ? message.event.position : message.position
        }
      } catch (error) {
        if (!signal.aborted) subscription.failed(messageOf(error))
      }
      await pause(timers, retryDelay(RETRY, failures, environment.random()), signal)
    }
  }

  return {
    start: async () => {
      const head = await store.head()
      if (E.isLeft(head)) return head
      const refreshed = await admission.refresh()
      if (E.isLeft(refreshed) && !isUnreadable(refreshed.left)) return refreshed
      const waiting = new Set<number>()
      const settled = await mapConcurrently(SETTLES_AT_ONCE, ownSessions(deps), async ({ liveId }) => {
        const waits = await waitsForSender(deps, liveId)
        if (E.isLeft(waits)) return waits
        if (!waits.right) return await settleOne(liveId)
        waiting.add(liveId)
        return waits
      })
      const failed = settled.filter(E.isLeft).find(({ left }) => !isUnreadable(left))
      if (failed !== undefined) return failed
      track(follow(head.right))
      // The worker may have been counted as lost before it followed the log.
      if (worker.incarnation !== null && !isJoined()) deps.onLost?.()
      return E.right(waiting)
    },
    settle,
    stop: async () => {
      stopping.abort()
      await Promise.all(working)
    },
  }
}
