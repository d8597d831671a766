import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Live } from '../../../domain/live/state.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { createSlots, ENDS_AT_ONCE } from '../../concurrency.ts'
import type { Unavailable } from '../../refusals.ts'
import { type Follower, followLog } from '../../log/follow-log.ts'
import { createOutage, type Outage } from '../../outages.ts'
import type { Logger } from '../../ports/environment.ts'
import { createCheckSchedule } from './check-schedule.ts'
import type { Expiry } from './expire-lives.ts'
import { createReconciler, ORPHAN_AFTER_MS, type ReconcileLivesDeps } from './reconciler.ts'

/** One process at a time reconciles: the holder of this lease. A new holder starts all waiting times again. */
export const RECONCILER_LEASE = 'reconciler'

interface PeriodicDeps extends Omit<ReconcileLivesDeps, 'limits' | 'schedule'> {
  readonly logger: Logger
  readonly expiry?: Expiry
  /** Milliseconds between two rounds. */
  readonly every: number
  /** Milliseconds before the first round. The default is `every`. */
  readonly first?: number | undefined
}

/**
 * Runs a round every `every` milliseconds until stopped, and more often while a waiting time is running. A round does
 * not wait for sessions that reach a time limit, because they finish transcribing before they end. `stop` waits for the
 * running round and for ends that have begun. Failures are logged and retried.
 */
export const reconcileLives = (deps: PeriodicDeps): { readonly stop: () => Promise<void> } => {
  const { expiry, every, first = every, timers } = deps
  const inSlot = createSlots(ENDS_AT_ONCE)
  const ending = new Map<number, Promise<void>>()
  const stopping = new AbortController()
  let follower: Follower | null = null
  let stopped = false
  let round: Promise<void> = Promise.resolve()
  let cancel: () => void = () => undefined

  const rounds = createOutage(
    deps, 'reservations could not be reconciled; trying again', 'reservations are reconciled again',
  )
  const ends = createOutage(
    deps, 'a session past its time limit could not be ended; trying again', 'sessions past their limit are ended again',
  )

  const attempt = async (work: () => Promise<Either<Unavailable, void>>, outage: Outage): Promise<void> => {
    try {
      const done = await work()
      if (E.isLeft(done)) outage.failed(done.left._tag)
      else outage.ended()
    } catch (error) {
      outage.failed(messageOf(error), { err: error })
    }
  }

  const end = (limits: Expiry, liveId: number, live: Live): Promise<void> =>
    inSlot(async () => {
      if (!stopped) await attempt(() => limits.end(liveId, live), ends)
    })

  const expire = (limits: Expiry, liveId: number, live: Live): void => {
    if (ending.has(liveId)) return
    ending.set(liveId, end(limits, liveId, live).finally(() => ending.delete(liveId)))
  }

  const schedule = createCheckSchedule()
  const limits = expiry && { ...expiry, expire: (liveId: number, live: Live) => expire(expiry, liveId, live) }
  const reconciler = createReconciler({ ...deps, schedule, ...(limits && { limits }) })
  /** The first round checks all sessions. It begins once the log is followed, so no later change is missed. */
  const reconcile = async (): Promise<Either<Unavailable, void>> => {
    if (follower === null) {
      const head = await deps.store.head()
      if (E.isLeft(head)) return head
      const { signal } = stopping
      const following = { name: 'the schedule of the reconciler', prefixes: ['live-', 'user-'] }
      follower = followLog({ ...deps, from: head.right, signal }, { ...following, onEvent: schedule.changed })
    }
    return await reconciler.round()
  }
  const run = async (): Promise<void> => {
    await attempt(reconcile, rounds)
    if (!stopped) plan(reconciler.isWatching() ? Math.min(every, ORPHAN_AFTER_MS) : every)
  }
  const plan = (ms: number): void => { cancel = timers.after(ms, () => { round = run() }) }

  plan(first)
  return {
    stop: async () => {
      stopped = true
      stopping.abort()
      cancel()
      await round
      await follower?.stopped
      await Promise.all(ending.values())
    },
  }
}
