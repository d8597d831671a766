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
import type { Expiry } from './expire-lives.ts'

export interface ReconcileLivesDeps extends LiveWriteDeps {
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
/** For how long an admission without a live is watched before it is an orphan although whoever creates it is there. */
const ORPHAN_MS = 10_000

const serviceOrigin = (deps: ReconcileLivesDeps): Origin => originOf(deps, 'service')

/**
 * Admissions without a live, and since when: by this process's own clock, whatever the clock of the one that admits.
 */
interface OrphanWatch {
  readonly isOrphan: (liveId: number) => boolean
  readonly keepOnly: (liveIds: ReadonlySet<number>) => void
  readonly isWatching: () => boolean
}

const createOrphanWatch = ({ environment: { monotonic } }: ReconcileLivesDeps): OrphanWatch => {
  const since = new Map<number, number>()
  return {
    isOrphan: (liveId) => {
      const first = since.get(liveId) ?? monotonic()
      since.set(liveId, first)
      return monotonic() - first >= ORPHAN_MS
    },
    keepOnly: (liveIds) => {
      for (const liveId of since.keys()) if (!liveIds.has(liveId)) since.delete(liveId)
    },
    isWatching: () => since.size > 0,
  }
}

/** Whether the run of the process that was to create the live has ended, or another has joined under its name. */
const hasLeft = ({ admission }: ReconcileLivesDeps, { instance }: Reservation): boolean =>
  !admission.state().workers.some(({ incarnation }) => incarnation === instance)

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
  { liveId, userId, worker }: Reservation,
  live: Live,
): Promise<Either<Unavailable, void>> => {
  const disabled = (await deps.isDisabled?.(userId)) === true ? OWNER_DISABLED : null
  const cause = disabled ?? (worker === null ? NO_ROOM : null)
  if (cause === null) {
    deps.expire?.(liveId, live)
    return E.right(undefined)
  }
  const ended = await endAndRelease(deps, liveId, cause, serviceOrigin(deps))()
  return E.isLeft(ended) ? ended : E.right(undefined)
}

const reconcileOne = async (
  deps: ReconcileLivesDeps,
  watch: OrphanWatch,
  reservation: Reservation,
): Promise<Either<Unavailable, void>> => {
  const { liveId } = reservation
  const loaded = await loadLive(deps, liveId)()
  if (E.isLeft(loaded)) return loaded
  const { state } = loaded.right
  switch (state.status) {
    case 'none':
      return hasLeft(deps, reservation) || watch.isOrphan(liveId)
        ? await fenceAndRelease(deps, reservation)
        : E.right(undefined)
    case 'aborted':
    case 'finished':
    case 'error':
    case 'deleted':
      return await releaseLive(deps, liveId, serviceOrigin(deps))()
    case 'pending':
    case 'active':
      return await reconcileOpen(deps, reservation, state)
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
  /** Some admission may be an orphan soon. */
  readonly isWatching: () => boolean
}

export const reconciling = (deps: ReconcileLivesDeps): Reconciling => {
  const watch = createOrphanWatch(deps)
  const round = async (): Promise<Either<Unavailable, void>> => {
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission) && !isHurt(admission.left)) return admission
    // Lives end by what is known of the admissions where these cannot be read; their memory waits for that.
    const { open } = E.isLeft(admission) ? deps.admission.state() : admission.right
    watch.keepOnly(new Set(open.map(({ liveId }) => liveId)))
    const outcomes = await mapAtOnce(LOOKS_AT_ONCE, open, (reservation) => reconcileOne(deps, watch, reservation))
    // Of a live that cannot be read nobody knows what to do: it keeps its reservation, and no other waits for it.
    return outcomes.find((outcome) => E.isLeft(outcome) && !isHurt(outcome.left)) ?? E.right(undefined)
  }
  return { round, isWatching: watch.isWatching }
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
