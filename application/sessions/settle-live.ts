import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { placementOf } from '../../domain/admission/state.ts'
import { exists } from '../../domain/live/state.ts'
import type { Live } from '../../domain/live/state.ts'
import type { Unavailable } from '../errors.ts'
import { attachedLive } from '../lives/attached-live.ts'
import { detachSender } from '../lives/commands/detach-sender.ts'
import { endInTerm } from '../lives/end-and-release.ts'
import { isOpen, loadLive } from '../lives/load-live.ts'
import { releaseLive } from '../lives/release-live.ts'
import { takeOver } from '../lives/terms/take-over.ts'
import type { TakenLive } from '../lives/terms/take-over.ts'
import { ownTerm } from '../lives/terms/worker.ts'
import type { WorkerDeps } from '../lives/terms/worker.ts'
import { originOf } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { LiveRuns } from './runs/live-runs.ts'

export interface SettleLiveDeps extends WorkerDeps {
  readonly runs: LiveRuns
  /**
   * Milliseconds for which a live that another worker ran, or an earlier run of this one, waits for its sender; 0 where
   * no other process can hold the sender's socket.
   */
  readonly takeoverGrace: number
  readonly logger: Pick<Logger, 'warn'>
}

/** Brings what runs here of a live in line with the log. Repeating it changes nothing. */
export type SettleLive = (liveId: number) => TaskEither<Unavailable, void>

const nothing: Either<never, void> = E.right(undefined)

/** A live that holds no memory and is open is nobody's: what made it did not ask `admission`. */
const settleUnreserved = async (deps: SettleLiveDeps, liveId: number): Promise<Either<Unavailable, void>> => {
  deps.runs.stop(liveId)
  const loaded = await loadLive(deps, liveId)()
  if (E.isLeft(loaded)) return loaded
  const { state } = loaded.right
  if (exists(state) && isOpen(state))
    deps.logger.warn({ liveId }, 'a live was created without a reservation: nothing is started')
  return nothing
}

/** An active live whose audio came through a socket (raw, or a URL that a sender's config started) that is not here. */
const isAbandoned = ({ runs }: SettleLiveDeps, { status, created }: Live): boolean =>
  status === 'active' && !created.autoStart && runs.termOf(created.liveId) === null

const settleTaken = async (
  deps: SettleLiveDeps,
  { state, point }: TakenLive,
  term: number,
): Promise<Either<Unavailable, void>> => {
  const { liveId } = state.created
  const { takeoverGrace: graceMs } = deps
  // Moved on meanwhile: that is settled next.
  if (ownTerm(deps, liveId) !== term) return nothing
  if (state.created.autoStart) deps.runs.pull(liveId, attachedLive(state), point)
  // Between the two nothing is awaited: who has the place has had it since before the log was told.
  if (state.sender !== null && !deps.runs.hasSender(liveId)) {
    const detached = await detachSender(deps)(liveId, { term, epoch: state.sender })()
    if (E.isLeft(detached)) return detached.left._tag === 'Superseded' ? nothing : E.left(detached.left)
  }
  if (!isAbandoned(deps, state)) return nothing
  const restart = { cause: { status: 'finished', reason: 'restart' }, origin: originOf(deps, 'service') } as const
  // Its sender may be held by a process that lives on.
  if (graceMs > 0) {
    deps.runs.awaitSender(liveId, attachedLive(state), point, { ...restart, graceMs })
    return nothing
  }
  const ended = await endInTerm(deps)(liveId, { ...restart, term })()
  return E.isLeft(ended) && ended.left._tag !== 'Superseded' ? E.left(ended.left) : nothing
}

/**
 * What is to run here is what `admission` says, whatever the live's own events say of it: what is another worker's, or
 * runs in a lower term, is dropped; what is this worker's is taken over, pulled, ended or given back.
 */
export const settleLive =
  (deps: SettleLiveDeps): SettleLive =>
  (liveId) =>
  async () => {
    const { runs, admission } = deps
    if (placementOf(admission.state(), liveId) === null) return await settleUnreserved(deps, liveId)
    const term = ownTerm(deps, liveId)
    if (term === null || (runs.termOf(liveId) ?? term) < term) runs.drop(liveId)
    if (term === null) return nothing
    const taken = await takeOver(deps)(liveId, term)()
    if (E.isRight(taken)) return await settleTaken(deps, taken.right, term)
    switch (taken.left._tag) {
      // Who creates it may be about to: whoever gives up on that is `reconcile-lives.ts`.
      case 'LiveUnknown':
        return nothing
      case 'Superseded':
        runs.drop(liveId)
        return nothing
      case 'LiveOver':
        runs.stop(liveId)
        return await releaseLive(deps, liveId, originOf(deps, 'service'))()
      default:
        return E.left(taken.left)
    }
  }
