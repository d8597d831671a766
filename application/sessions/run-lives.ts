import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ADMISSION_STREAM, Moved, WorkerLeft } from '../../domain/admission/events.ts'
import {
  FIRST_TERM, LiveCreated, LiveFailed, LiveFinished, LiveTakenOver, SenderAttached,
} from '../../domain/live/events.ts'
import { eventReader } from '../../domain/read-event.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import { mapAtOnce } from '../at-once.ts'
import { isHurt } from '../errors.ts'
import type { Unavailable } from '../errors.ts'
import { watchEnds } from '../lives/policies/watch-ends.ts'
import { releaseLive } from '../lives/release-live.ts'
import { originOf } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { Position, StoredEvent } from '../ports/event-store.ts'
import type { Projector } from '../ports/projector.ts'
import { ownTerm } from '../lives/terms/worker.ts'
import { pause, retryDelay } from '../waiting.ts'
import { settleLive } from './settle-live.ts'
import type { SettleLiveDeps } from './settle-live.ts'

export interface RunLivesDeps extends SettleLiveDeps, Pick<Projector, 'whenProjected'> {
  readonly logger: Logger
  /** This run of the worker was given up: what it ran is another's. */
  readonly left?: () => void
  /** These lives may run elsewhere, or in another term, from now on: for links to them. */
  readonly placedAnew?: (liveIds: ReadonlyArray<number>) => void
}

/** This worker: it hears from the log which lives are its own. */
export interface RunLives {
  /**
   * Settles every reservation of this worker's, then follows the log. Nothing may be served before that is done: while a
   * store is away it is refused, and may be repeated. What cannot be read is left as it is.
   */
  readonly start: TaskEither<Unavailable, void>
  /** Looks at a live anew, for as long as a store is away. */
  readonly settle: (liveId: number) => void
  readonly stop: () => Promise<void>
}

/** Lives that are settled at a time at start: each is some reads and at most three appends. */
const SETTLED_AT_ONCE = 32
const RETRY = { first: 100, longest: 5000 }

/** What changes which lives run here. */
const toldOf = eventReader([LiveCreated, LiveFinished, LiveFailed, SenderAttached, LiveTakenOver, Moved, WorkerLeft])

/**
 * Starts and stops what this worker transcribes, as the log tells: a live that was created or moved to it is settled, one
 * that ended stops, whoever appended those events. Nobody else starts a source.
 */
export const runLives = (deps: RunLivesDeps): RunLives => {
  const { store, admission, runs, worker, environment, timers, logger, whenProjected } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const settleOne = settleLive(deps)
  /** Lives that are being settled; true: once more, something happened since. */
  const settling = new Map<number, boolean>()
  const working = new Set<Promise<void>>()
  const completedBy = watchEnds()

  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => logger.error({ error: String(error) }, 'what the log told of a live broke'))
      .finally(() => working.delete(guarded))
    working.add(guarded)
  }

  /** Until it is done; what cannot be read waits for somebody to see to it. */
  const surely = async (liveId: number, work: () => Promise<E.Either<Unavailable, void>>): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const done = await work()
      if (E.isRight(done)) return
      const refusal = done.left._tag
      if (isHurt(done.left)) return logger.error({ liveId, refusal }, 'a live cannot be read: it is left as it is')
      logger.warn({ liveId, refusal, attempt }, 'a live could not be settled; trying again')
      await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
    }
  }

  /** One at a time for each live, and one more for all that happens meanwhile. */
  const settleInTurn = async (liveId: number): Promise<void> => {
    try {
      do {
        settling.set(liveId, false)
        await surely(liveId, settleOne(liveId))
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
    surely(liveId, () => releaseLive(deps, liveId, originOf(deps, 'service'))())

  const isMine = (liveId: number): boolean => ownTerm(deps, liveId) !== null

  /** In its first term one that waits for a sender is settled as it is: nothing is read for it. */
  const created = async (liveId: number, autoStart: boolean): Promise<void> => {
    // Another process may have admitted it.
    if (!isMine(liveId)) await admission.refresh()
    if (autoStart || ownTerm(deps, liveId) !== FIRST_TERM) settle(liveId)
  }

  const ended = (liveId: number): void => {
    runs.stop(liveId)
    if (isMine(liveId)) track(release(liveId))
  }

  /** By what is known of the admissions now: what was known before says that they are still here. */
  const placedAnew = async (liveIds: ReadonlyArray<number>): Promise<void> => {
    for (let attempt = 0; !signal.aborted; attempt += 1) {
      const refreshed = await admission.refresh()
      if (E.isRight(refreshed) || isHurt(refreshed.left)) break
      await pause(timers, retryDelay(RETRY, attempt, environment.random()), signal)
    }
    liveIds.forEach(settle)
    deps.placedAnew?.(liveIds)
  }

  /** Who left runs nothing: of what waits for room no move is told. */
  const hasLeft = async ({ incarnation, reason }: EventOf<typeof WorkerLeft>['data']): Promise<void> => {
    await placedAnew(runs.all())
    if (incarnation === worker.incarnation && reason === 'lost') deps.left?.()
  }

  const isJoined = (): boolean => admission.state().workers.some(({ incarnation }) => incarnation === worker.incarnation)

  const hear = async (event: StoredEvent): Promise<void> => {
    const told = toldOf(event)
    switch (told?.type) {
      case undefined:
        return
      case 'LiveCreated':
        return await created(told.data.liveId, told.data.autoStart)
      case 'LiveFinished':
      case 'LiveFailed':
        return ended(told.data.liveId)
      case 'SenderAttached':
        return runs.hasSender(told.data.liveId) || !isMine(told.data.liveId) ? undefined : settle(told.data.liveId)
      case 'LiveTakenOver':
        return (runs.termOf(told.data.liveId) ?? told.data.term) < told.data.term ? settle(told.data.liveId) : undefined
      case 'Moved':
        return await placedAnew([told.data.liveId])
      case 'WorkerLeft':
        return told.data.worker === worker.name ? await hasLeft(told.data) : undefined
    }
  }

  /** At most 2 s later: when the lists show it. */
  const tellEnd = (event: StoredEvent): void => {
    const over = completedBy(event)
    if (over !== undefined) track(whenProjected(over.position).then(() => runs.ended(over.liveId, over.cause)))
  }

  const follow = async (from: Position): Promise<void> => {
    let position = from
    for (let failures = 0; !signal.aborted; failures += 1) {
      try {
        for await (const message of store.subscribe(position, ['live-', ADMISSION_STREAM], signal)) {
          failures = 0
          if (message.kind === 'event') {
            await hear(message.event)
            tellEnd(message.event)
          }
          position = message.kind === 'event' ? message.event.position : message.position
        }
      } catch (error) {
        if (!signal.aborted) logger.warn({ failures, error: String(error) }, 'the subscription to lives was lost')
      }
      await pause(timers, retryDelay(RETRY, failures, environment.random()), signal)
    }
  }

  return {
    start: async () => {
      const head = await store.head()()
      if (E.isLeft(head)) return head
      const refreshed = await admission.refresh()
      if (E.isLeft(refreshed) && !isHurt(refreshed.left)) return refreshed
      const mine = admission.state().open.filter(({ liveId }) => isMine(liveId))
      const settled = await mapAtOnce(SETTLED_AT_ONCE, mine, ({ liveId }) => settleOne(liveId)())
      const away = settled.find((outcome) => E.isLeft(outcome) && !isHurt(outcome.left))
      if (away !== undefined) return away
      track(follow(head.right))
      // Before anybody followed the log.
      if (worker.incarnation !== null && !isJoined()) deps.left?.()
      return E.right(undefined)
    },
    settle,
    stop: async () => {
      stopping.abort()
      await Promise.all(working)
    },
  }
}
