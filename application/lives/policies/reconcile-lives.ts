import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Reservation } from '../../../domain/admission/state.ts'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { Live } from '../../../domain/live/state.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { createSlots, mapConcurrently } from '../../concurrency.ts'
import { isUnreadable } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import { createOutage } from '../../outages.ts'
import type { Outage } from '../../outages.ts'
import type { Logger } from '../../ports/environment.ts'
import { endAndRelease } from '../end-and-release.ts'
import { loadLive } from '../load-live.ts'
import { releaseLive } from '../release-live.ts'
import type { LiveWriteDeps } from '../release-live.ts'
import type { CreatorStateOf } from './creator-state.ts'
import { createWatch } from './condition-watch.ts'
import type { Watch } from './condition-watch.ts'
import type { Expiry } from './expire-lives.ts'

export interface ReconcileLivesDeps extends LiveWriteDeps {
  /** Returns the state of the process that admitted a session. */
  readonly creatorStateOf: CreatorStateOf
  /** Milliseconds for which a session without a worker waits for a worker with enough free memory. */
  readonly takeoverGrace: number
  /** Returns whether a user is disabled. Sessions of a disabled user end in the next round. */
  readonly isDisabled?: (userId: number) => Promise<boolean>
  /** Starts the end of a session that has reached a time limit, without waiting for it. */
  readonly expire?: (liveId: number, live: Live) => void
}

/** One process at a time reconciles: the holder of this lease. A new holder starts all waiting times again. */
export const RECONCILER_LEASE = 'reconciler'

/** Maximum number of sessions that are checked at the same time. Each check costs one read and at most two appends. */
const CHECKS_AT_ONCE = 16
/** Maximum number of sessions that finish transcribing at the same time. All of them share one engine. */
const MAX_CONCURRENT_ENDS = 32
/** An admission without a session counts as an orphan after this time, if the state of its process is unknown. */
const ORPHAN_AFTER_MS = 10_000
/** The same time if its process is alive. Even then the create may have failed, after a timeout of the store. */
const SLOW_ORPHAN_AFTER_MS = 60_000

const serviceOrigin = (deps: ReconcileLivesDeps): Origin => originOf(deps, 'service')

interface Watches {
  /** Admissions without a session. */
  readonly orphans: Watch
  /** Sessions without a worker. */
  readonly waiting: Watch
}

const isOrphan = (
  { creatorStateOf }: ReconcileLivesDeps,
  { orphans }: Watches,
  { liveId, instance }: Reservation,
): boolean => {
  const watched = orphans.since(liveId)
  switch (creatorStateOf(instance)) {
    case 'gone':
      return true
    case 'unseen':
      return watched >= ORPHAN_AFTER_MS
    case 'alive':
      return watched >= SLOW_ORPHAN_AFTER_MS
  }
}

/**
 * Fences an abandoned create, then releases its reservation. With LiveAborted as the first event of the stream the
 * create can never complete. A create that completed first keeps its reservation.
 */
const fenceAndRelease = async (
  deps: ReconcileLivesDeps,
  { liveId, userId }: Reservation,
): Promise<Either<Unavailable, void>> => {
  const origin = serviceOrigin(deps)
  const command = { type: 'AbortLive', liveId, userId, reason: 'orphan', at: deps.environment.now() } as const
  const fenced = await handleCommand(deps)({ ...origin, stream: liveStream(liveId), decider: liveDecider, command })()
  if (E.isRight(fenced)) return await releaseLive(deps, liveId, origin)()
  switch (fenced.left._tag) {
    case 'AlreadyCreated':
      return E.right(undefined)
    case 'LiveOver':
    case 'LiveUnknown':
    case 'Superseded':
      throw unexpected(`fence of live ${liveId}`, fenced.left)
    default:
      return E.left(fenced.left)
  }
}

const OWNER_DISABLED: EndCause = { status: 'finished', reason: 'owner_disabled' }
const NO_ROOM: EndCause = { status: 'error', code: 'engine_failed', detail: 'No worker has room for this session' }

/** Ends a session when its owner is disabled or no worker has enough memory. Passes all other sessions to `expire`. */
const reconcileOpen = async (
  deps: ReconcileLivesDeps,
  { waiting }: Watches,
  { liveId, userId, worker }: Reservation,
  live: Live,
): Promise<Either<Unavailable, void>> => {
  const disabled = (await deps.isDisabled?.(userId)) === true ? OWNER_DISABLED : null
  const hasWaitedTooLong = worker === null && waiting.since(liveId) >= deps.takeoverGrace
  const cause = disabled ?? (hasWaitedTooLong ? NO_ROOM : null)
  if (cause === null) {
    deps.expire?.(liveId, live)
    return E.right(undefined)
  }
  const ended = await endAndRelease(deps, liveId, cause, serviceOrigin(deps))()
  return E.isLeft(ended) ? ended : E.right(undefined)
}

const reconcileReservation = async (
  deps: ReconcileLivesDeps,
  watches: Watches,
  reservation: Reservation,
): Promise<Either<Unavailable, void>> => {
  const { liveId } = reservation
  const loaded = await loadLive(deps, liveId)()
  if (E.isLeft(loaded)) return loaded
  const { state } = loaded.right
  switch (state.status) {
    case 'none':
      return isOrphan(deps, watches, reservation) ? await fenceAndRelease(deps, reservation) : E.right(undefined)
    case 'aborted':
    case 'finished':
    case 'error':
    case 'deleted':
      return await releaseLive(deps, liveId, serviceOrigin(deps))()
    case 'pending':
    case 'active':
      return await reconcileOpen(deps, watches, reservation, state)
  }
}

/** Compares the reservations with the sessions they belong to. */
export interface Reconciler {
  /**
   * Fences abandoned admissions, ends sessions of disabled users, and releases reservations of ended sessions. Rounds
   * may run at the same time. A failure does not stop the round. Left: the first failure, except damaged data.
   */
  readonly round: TaskEither<Unavailable, void>
  /** True while the waiting time of a possible orphan or of a session without a worker is running. */
  readonly isWatching: () => boolean
}

export const createReconciler = (deps: ReconcileLivesDeps): Reconciler => {
  const watches: Watches = { orphans: createWatch(deps), waiting: createWatch(deps) }
  const round = async (): Promise<Either<Unavailable, void>> => {
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission) && !isUnreadable(admission.left)) return admission
    // With damaged admissions the last known state is used. Then sessions end, but their memory is released later.
    const { open } = E.isLeft(admission) ? deps.admission.state() : admission.right
    const workers = new Map(open.map(({ liveId, worker }) => [liveId, worker]))
    watches.orphans.keepOnly((liveId) => workers.has(liveId))
    watches.waiting.keepOnly((liveId) => workers.get(liveId) === null)
    const outcomes = await mapConcurrently(CHECKS_AT_ONCE, open, (reservation) =>
      reconcileReservation(deps, watches, reservation))
    // A session with damaged data keeps its reservation and does not hold up the others.
    return outcomes.find((outcome) => E.isLeft(outcome) && !isUnreadable(outcome.left)) ?? E.right(undefined)
  }
  return { round, isWatching: () => watches.orphans.isWatching() || watches.waiting.isWatching() }
}

interface PeriodicDeps extends Omit<ReconcileLivesDeps, 'expire'> {
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
  const inSlot = createSlots(MAX_CONCURRENT_ENDS)
  const ending = new Map<number, Promise<void>>()
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

  const expire = (liveId: number, live: Live): void => {
    if (expiry?.isDue(live) !== true || ending.has(liveId)) return
    ending.set(liveId, end(expiry, liveId, live).finally(() => ending.delete(liveId)))
  }

  const { round: reconcile, isWatching } = createReconciler({ ...deps, expire })
  const run = async (): Promise<void> => {
    await attempt(reconcile, rounds)
    if (!stopped) plan(isWatching() ? Math.min(every, ORPHAN_AFTER_MS) : every)
  }
  const plan = (ms: number): void => { cancel = timers.after(ms, () => { round = run() }) }

  plan(first)
  return {
    stop: async () => {
      stopped = true
      cancel()
      await round
      await Promise.all(ending.values())
    },
  }
}
