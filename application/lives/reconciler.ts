import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Reservation } from '../../domain/admission/events.ts'
import { liveDecider } from '../../domain/live/decider.ts'
import type { Live, LiveState } from '../../domain/live/decider.ts'
import { liveStream } from '../../domain/live/events.ts'
import type { LiveEvent } from '../../domain/live/events.ts'
import { endLive, ownOrigin, releaseLive } from './end-live.ts'
import type { EndLiveDeps, Origin } from './end-live.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand, loadState } from '../handle-command.ts'
import type { Logger } from '../ports/environment.ts'

export interface ReconcilerDeps extends EndLiveDeps {
  /** Processes that live beside this one; with the embedded store there are none. */
  readonly otherInstances: () => ReadonlyArray<string>
  /** A live that was created while its owner was being disabled ends in the next round. */
  readonly isDisabled?: (userId: number) => boolean
  /** Ends a live that has reached a time limit; absent before lives are served. */
  readonly expire?: (liveId: number, live: Live) => Promise<Either<Unavailable, void>>
}

/** Age at which an admission without a live is an orphan although its process lives. */
const ORPHAN_MS = 10_000

const originOf = (deps: ReconcilerDeps): Origin => ({ ...ownOrigin(deps), actor: 'service' })

const isAlive = (deps: ReconcilerDeps, instance: string): boolean =>
  instance === deps.environment.instance || deps.otherInstances().includes(instance)

const isOrphan = (deps: ReconcilerDeps, { instance, at }: Reservation): boolean =>
  !isAlive(deps, instance) || Date.parse(deps.environment.now()) - Date.parse(at) > ORPHAN_MS

/**
 * D53: an active live whose audio came through a socket (raw, or a URL that a sender's config started) does not outlive
 * the process that held the socket. Pending ones wait on; auto-started ones belong to the supervisor of the sources,
 * which relaunches them once there are URL sources.
 */
const isAbandoned = (deps: ReconcilerDeps, live: Live, atStart: boolean): boolean => {
  if (live.status !== 'active' || live.created.autoStart) return false
  if (live.sender !== null) return !isAlive(deps, live.sender.instance)
  // Its sender left and its last audio is being transcribed, unless nobody is there to do so.
  return atStart && deps.otherInstances().length === 0
}

/**
 * The fence comes first: once LiveAborted stands as the first event of its stream the create can never complete, so
 * the reservation may go. A create that was faster keeps it.
 */
const fenceAndRelease = async (deps: ReconcilerDeps, { liveId, userId }: Reservation): Promise<Either<Unavailable, void>> => {
  const origin = originOf(deps)
  const command = { type: 'AbortLive', liveId, userId, reason: 'orphan', at: deps.environment.now() } as const
  const fenced = await handleCommand(deps)({ ...origin, stream: liveStream(liveId), decider: liveDecider, command })()
  if (E.isRight(fenced)) return await releaseLive(deps, liveId, origin)()
  switch (fenced.left._tag) {
    case 'AlreadyCreated':
      return E.right(undefined)
    case 'LiveOver':
    case 'LiveUnknown':
    case 'SenderAlreadyConnected':
      throw new Error(`fence of live ${liveId} refused with ${fenced.left._tag}`)
    default:
      return E.left(fenced.left)
  }
}

/** Ends a live that nobody may or can go on with, or that has reached a time limit. */
const reconcileOpen = async (deps: ReconcilerDeps, { liveId, userId }: Reservation, live: Live, atStart: boolean): Promise<Either<Unavailable, void>> => {
  const isDisabled = deps.isDisabled?.(userId) === true
  if (!isDisabled && !isAbandoned(deps, live, atStart)) return (await deps.expire?.(liveId, live)) ?? E.right(undefined)
  const ended = await endLive(deps, liveId, { status: 'finished', reason: isDisabled ? 'owner_disabled' : 'restart' }, originOf(deps))()
  return E.isLeft(ended) ? ended : E.right(undefined)
}

const reconcileOne = async (deps: ReconcilerDeps, reservation: Reservation, atStart: boolean): Promise<Either<Unavailable, void>> => {
  const { liveId } = reservation
  const loaded = await loadState(deps)<LiveState, LiveEvent>(liveStream(liveId), liveDecider)()
  if (E.isLeft(loaded)) return loaded
  const { state } = loaded.right
  switch (state.status) {
    case 'none':
      return isOrphan(deps, reservation) ? await fenceAndRelease(deps, reservation) : E.right(undefined)
    case 'aborted':
    case 'finished':
    case 'error':
    case 'deleted':
      return await releaseLive(deps, liveId, originOf(deps))()
    case 'pending':
    case 'active':
      return await reconcileOpen(deps, reservation, state, atStart)
  }
}

/**
 * Brings reservations and lives in line: fences admissions whose create died, ends lives whose process died, gives
 * back what ended lives still hold. Repeating it, or running many at once, changes nothing. Every reservation is
 * tried; the first failure is the answer.
 */
const reconcile = async (deps: ReconcilerDeps, atStart: boolean): Promise<Either<Unavailable, void>> => {
  const admission = await deps.admission.refresh()
  if (E.isLeft(admission)) return admission
  let outcome: Either<Unavailable, void> = E.right(undefined)
  for (const reservation of admission.right.open) {
    const reconciled = await reconcileOne(deps, reservation, atStart)
    if (E.isRight(outcome)) outcome = reconciled
  }
  return outcome
}

/** D53, before the service says ready. On a failure the caller tries again: lives may not be served before. */
export const reconcileAtStart = (deps: ReconcilerDeps): TaskEither<Unavailable, void> => () => reconcile(deps, true)

interface PeriodicReconcilerDeps extends ReconcilerDeps {
  readonly logger: Logger
  /** Milliseconds between two rounds. */
  readonly every: number
}

/** Reconciles again and again until stopped; `stop` waits for the round in progress. Failures are logged and tried again. */
export const startReconciler = (deps: PeriodicReconcilerDeps): { readonly stop: () => Promise<void> } => {
  let stopped = false
  let round: Promise<void> = Promise.resolve()
  let cancel: () => void = () => undefined

  const run = async (): Promise<void> => {
    try {
      const reconciled = await reconcile(deps, false)
      if (E.isLeft(reconciled)) deps.logger.warn({ reason: reconciled.left._tag }, 'reservations could not be reconciled; trying again')
    } catch (error) {
      deps.logger.error({ err: error }, 'reservations could not be reconciled; trying again')
    }
    if (!stopped) plan()
  }
  const plan = (): void => { cancel = deps.timers.after(deps.every, () => { round = run() }) }

  plan()
  return {
    stop: async () => {
      stopped = true
      cancel()
      await round
    },
  }
}
