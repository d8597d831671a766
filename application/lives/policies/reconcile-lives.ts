import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Reservation } from '../../../domain/admission/state.ts'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { Live } from '../../../domain/live/decider.ts'
import { liveStream } from '../../../domain/live/events.ts'
import { createSlots, mapAtOnce } from '../../at-once.ts'
import { isHurt } from '../../errors.ts'
import type { Unavailable } from '../../errors.ts'
import { handleCommand } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import type { Origin } from '../../log/origin.ts'
import { unexpected } from '../../log/unexpected.ts'
import type { EndCause } from '../../pipeline/signals.ts'
import type { Logger } from '../../ports/environment.ts'
import { endAndRelease } from '../end-and-release.ts'
import { loadLive } from '../load-live.ts'
import { releaseLive } from '../release-live.ts'
import type { LiveWriteDeps } from '../release-live.ts'
import type { CreatorOf } from './creators.ts'
import type { Expiry } from './expire-lives.ts'

export interface ReconcileLivesDeps extends LiveWriteDeps {
  /** What became of the process that was to create a live. */
  readonly creator: CreatorOf
  /** Milliseconds for which a live waits for a worker that has room for it. */
  readonly takeoverGrace: number
  /** A live that was created while its owner was being disabled ends in the next round. */
  readonly isDisabled?: (userId: number) => Promise<boolean>
  /** Sees to a live that may have reached a time limit, without waiting for its end. */
  readonly expire?: (liveId: number, live: Live) => void
}

/** Under which one process at a time reconciles: what it watches it watches anew then, by its own clock. */
export const RECONCILER_LEASE = 'reconciler'

/** Lives looked at, fenced and released at a time: each is a read and at most two appends. */
const LOOKS_AT_ONCE = 16
/** Lives that speak out at a time: the engine, which serves them all, has but some seconds for each. */
const ENDS_AT_ONCE = 32
/** For how long an admission without a live is watched before it is an orphan where nobody sees who was to create it. */
const ORPHAN_MS = 10_000
/** And where its process is there, which may be slow: it may also have given up on what a store did not answer. */
const SLOW_ORPHAN_MS = 60_000

const serviceOrigin = (deps: ReconcileLivesDeps): Origin => originOf(deps, 'service')

/** For how long of this process's own clock something was so at each look, whatever the clocks of others say. */
interface Watch {
  /** It is so at this look. */
  readonly since: (liveId: number) => number
  readonly keepOnly: (isKept: (liveId: number) => boolean) => void
  readonly isWatching: () => boolean
}

const createWatch = ({ environment: { monotonic } }: ReconcileLivesDeps): Watch => {
  const first = new Map<number, number>()
  return {
    since: (liveId) => {
      const seen = first.get(liveId) ?? monotonic()
      first.set(liveId, seen)
      return monotonic() - seen
    },
    keepOnly: (isKept) => {
      for (const liveId of first.keys()) if (!isKept(liveId)) first.delete(liveId)
    },
    isWatching: () => first.size > 0,
  }
}

interface Watches {
  /** Admissions without a live. */
  readonly orphans: Watch
  /** Lives without a worker. */
  readonly waiting: Watch
}

const isOrphan = ({ creator }: ReconcileLivesDeps, { orphans }: Watches, { liveId, instance }: Reservation): boolean => {
  const watched = orphans.since(liveId)
  switch (creator(instance)) {
    case 'gone':
      return true
    case 'unseen':
      return watched >= ORPHAN_MS
    case 'alive':
      return watched >= SLOW_ORPHAN_MS
  }
}

/**
 * The fence comes first: once LiveAborted stands as the first event of its stream the create can never complete, so
 * the reservation may go. A create that was faster keeps it.
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
const NO_ROOM: EndCause = { status: 'error', code: 'engine_failed', detail: 'No worker has room for it any more' }

/** Ends a live that nobody may or can go on with, or that has reached a time limit. */
const reconcileOpen = async (
  deps: ReconcileLivesDeps,
  { waiting }: Watches,
  { liveId, userId, worker }: Reservation,
  live: Live,
): Promise<Either<Unavailable, void>> => {
  const disabled = (await deps.isDisabled?.(userId)) === true ? OWNER_DISABLED : null
  const isLeft = worker === null && waiting.since(liveId) >= deps.takeoverGrace
  const cause = disabled ?? (isLeft ? NO_ROOM : null)
  if (cause === null) {
    deps.expire?.(liveId, live)
    return E.right(undefined)
  }
  const ended = await endAndRelease(deps, liveId, cause, serviceOrigin(deps))()
  return E.isLeft(ended) ? ended : E.right(undefined)
}

const reconcileOne = async (
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
      return isOrphan(deps, watches, reservation)
        ? await fenceAndRelease(deps, reservation)
        : E.right(undefined)
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

/** One look at all reservations after another. */
export interface Reconciling {
  /**
   * Fences admissions whose create died, ends lives of who was disabled, gives back what ended lives still hold. Running
   * many at once changes nothing more. Every reservation is tried; the first failure is the answer, unless it is that
   * stored data cannot be read.
   */
  readonly round: TaskEither<Unavailable, void>
  /** Some admission may be an orphan soon, or some live have waited long enough. */
  readonly isWatching: () => boolean
}

export const reconciling = (deps: ReconcileLivesDeps): Reconciling => {
  const watches: Watches = { orphans: createWatch(deps), waiting: createWatch(deps) }
  const round = async (): Promise<Either<Unavailable, void>> => {
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission) && !isHurt(admission.left)) return admission
    // Lives end by what is known of the admissions where these cannot be read; their memory waits for that.
    const { open } = E.isLeft(admission) ? deps.admission.state() : admission.right
    const workers = new Map(open.map(({ liveId, worker }) => [liveId, worker]))
    watches.orphans.keepOnly((liveId) => workers.has(liveId))
    watches.waiting.keepOnly((liveId) => workers.get(liveId) === null)
    const outcomes = await mapAtOnce(LOOKS_AT_ONCE, open, (reservation) => reconcileOne(deps, watches, reservation))
    // Of a live that cannot be read nobody knows what to do: it keeps its reservation, and no other waits for it.
    return outcomes.find((outcome) => E.isLeft(outcome) && !isHurt(outcome.left)) ?? E.right(undefined)
  }
  return { round, isWatching: () => watches.orphans.isWatching() || watches.waiting.isWatching() }
}

interface PeriodicDeps extends Omit<ReconcileLivesDeps, 'expire'> {
  readonly logger: Logger
  readonly expiry?: Expiry
  /** Milliseconds between two rounds. */
  readonly every: number
  /** Milliseconds before the first; `every` unless told. */
  readonly first?: number | undefined
}

/**
 * Reconciles again and again until stopped: sooner than told where an admission is watched. A round does not wait for the lives that it ends by their time limits: they
 * speak out first. `stop` waits for the round in progress and for ends that have begun. Failures are logged and tried
 * again.
 */
export const reconcileLives = (deps: PeriodicDeps): { readonly stop: () => Promise<void> } => {
  const { logger, expiry, every, first = every, timers } = deps
  const inSlot = createSlots(ENDS_AT_ONCE)
  const ending = new Map<number, Promise<void>>()
  let stopped = false
  let round: Promise<void> = Promise.resolve()
  let cancel: () => void = () => undefined

  const attempt = async (work: () => Promise<Either<Unavailable, void>>, message: string): Promise<void> => {
    try {
      const done = await work()
      if (E.isLeft(done)) logger.warn({ reason: done.left._tag }, message)
    } catch (error) {
      logger.error({ err: error }, message)
    }
  }

  const end = ({ end: expire }: Expiry, liveId: number, live: Live): Promise<void> =>
    inSlot(async () => {
      const message = 'a live that reached its time limit could not be ended; trying again'
      if (!stopped) await attempt(() => expire(liveId, live), message)
    })

  const expire = (liveId: number, live: Live): void => {
    if (expiry?.isDue(live) !== true || ending.has(liveId)) return
    ending.set(liveId, end(expiry, liveId, live).finally(() => ending.delete(liveId)))
  }

  const { round: look, isWatching } = reconciling({ ...deps, expire })
  const run = async (): Promise<void> => {
    await attempt(look, 'reservations could not be reconciled; trying again')
    if (!stopped) plan(isWatching() ? Math.min(every, ORPHAN_MS) : every)
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
