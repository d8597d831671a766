import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Reservation } from '../../../domain/admission/state.ts'
import type { EndCause } from '../../../domain/live/events.ts'
import { isOpen, type Live } from '../../../domain/live/state.ts'
import { mapConcurrently } from '../../concurrency.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import { type Origin, originOf } from '../../log/origin.ts'
import { abortLive, endAndRelease, type LiveWriteDeps, releaseLive } from '../ending.ts'
import { loadLive } from '../load-live.ts'
import { glanceAt } from '../ownership/newest-event.ts'
import type { CheckSchedule } from './check-schedule.ts'
import { createWatch, type Watch } from './condition-watch.ts'
import type { CreatorStateOf } from './creator-state.ts'
import type { Expiry } from './expire-lives.ts'

interface ReconciledLimits extends Pick<Expiry, 'dueAt' | 'dueAfterCreation'> {
  /** Starts the end of a session that has reached a limit, without waiting for it. */
  readonly expire: (liveId: number, live: Live) => void
}

export interface ReconcileLivesDeps extends LiveWriteDeps {
  readonly creatorStateOf: CreatorStateOf
  /** Milliseconds for which a session without a worker waits for a worker with enough free memory. */
  readonly takeoverGrace: number
  /** Returns whether a user is disabled. Sessions of a disabled user end in the next round. */
  readonly isDisabled?: (userId: number) => Promise<boolean>
  readonly limits?: ReconciledLimits
  /** Tells which sessions a round checks. Without it, a round checks all. */
  readonly schedule?: CheckSchedule
}

/** Maximum number of sessions that are checked at the same time. Each costs up to two reads and two appends. */
const CHECKS_AT_ONCE = 16
/** An admission without a session counts as an orphan after this time, if the state of its process is unknown. */
export const ORPHAN_AFTER_MS = 10_000
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

const OWNER_DISABLED: EndCause = { status: 'finished', reason: 'owner_disabled' }
const NO_ROOM: EndCause = { status: 'error', code: 'engine_failed', detail: 'No worker has room for this session' }

/** Returns why a session must end: its owner is disabled, or no worker has enough memory. Null: it stays. */
const causeOfEnd = async (
  deps: ReconcileLivesDeps,
  { waiting }: Watches,
  { liveId, userId, worker }: Reservation,
): Promise<EndCause | null> => {
  const disabled = (await deps.isDisabled?.(userId)) === true ? OWNER_DISABLED : null
  const hasWaitedTooLong = worker === null && waiting.since(liveId) >= deps.takeoverGrace
  return disabled ?? (hasWaitedTooLong ? NO_ROOM : null)
}

/** Ends an open session if it must end. Otherwise it is checked again at its next time limit. */
const reconcileOpen = async (
  deps: ReconcileLivesDeps,
  watches: Watches,
  reservation: Reservation,
  live: Live,
): Promise<Either<Unavailable, void>> => {
  const { liveId } = reservation
  const cause = await causeOfEnd(deps, watches, reservation)
  if (cause !== null)
    return E.map(() => undefined)(await endAndRelease(deps, liveId, cause, serviceOrigin(deps)))
  const dueAt = deps.limits?.dueAt(live) ?? Infinity
  if (dueAt <= deps.store.now()) deps.limits?.expire(liveId, live)
  deps.schedule?.checked(liveId, dueAt)
  return E.right(undefined)
}

/** Returns true for a session that nothing has happened to, and that stays. Its stream need not be read. */
const staysUntouched = async (
  deps: ReconcileLivesDeps,
  watches: Watches,
  reservation: Reservation,
  createdAt: string,
): Promise<boolean> => {
  const dueAt = deps.limits?.dueAfterCreation(createdAt) ?? Infinity
  if (dueAt <= deps.store.now() || (await causeOfEnd(deps, watches, reservation)) !== null) return false
  deps.schedule?.checked(reservation.liveId, dueAt)
  return true
}

const reconcileReservation = async (
  deps: ReconcileLivesDeps,
  watches: Watches,
  reservation: Reservation,
): Promise<Either<Unavailable, void>> => {
  const { liveId } = reservation
  const glance = await glanceAt(deps, liveId)
  if (E.isLeft(glance)) return glance
  if (glance.right.kind === 'none') {
    if (!isOrphan(deps, watches, reservation)) return E.right(undefined)
    return await abortLive(deps, { ...reservation, reason: 'orphan' }, serviceOrigin(deps))
  }
  if (glance.right.kind === 'over') return await releaseLive(deps, liveId, serviceOrigin(deps))
  const isUntouched = glance.right.kind === 'created'
    && (await staysUntouched(deps, watches, reservation, glance.right.at))
  if (isUntouched) return E.right(undefined)
  const loaded = await loadLive(deps, liveId)
  if (E.isLeft(loaded)) return loaded
  const { state } = loaded.right
  // Any other state is due to an event after the glance, so the next round checks the session again.
  return isOpen(state)
    ? await reconcileOpen(deps, watches, reservation, state)
    : E.right(undefined)
}

/** Compares the reservations with the sessions they belong to. */
export interface Reconciler {
  /**
   * Fences abandoned admissions, ends sessions of disabled users, and releases reservations of ended sessions. Rounds
   * may run at the same time. A failure does not stop the round. Left: the first failure, except damaged data.
   */
  readonly round: () => Promise<Either<Unavailable, void>>
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
    const due = deps.schedule?.due(open, deps.store.now()) ?? open
    const outcomes = await mapConcurrently(CHECKS_AT_ONCE, due, (reservation) =>
      reconcileReservation(deps, watches, reservation))
    // A session with damaged data keeps its reservation and does not hold up the others.
    return outcomes.find((outcome) => E.isLeft(outcome) && !isUnreadable(outcome.left)) ?? E.right(undefined)
  }
  return { round, isWatching: () => watches.orphans.isWatching() || watches.waiting.isWatching() }
}
