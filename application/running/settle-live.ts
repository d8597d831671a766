import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { placementOf } from '../../domain/admission/state.ts'
import { isOpen, type Live } from '../../domain/live/state.ts'
import type { Unavailable } from '../refusals.ts'
import { attachedLive } from '../lives/attached-live.ts'
import { detachSender } from '../lives/change-live.ts'
import { endInTerm, releaseLive } from '../lives/ending.ts'
import { loadLive } from '../lives/load-live.ts'
import { glanceAt } from '../lives/ownership/newest-event.ts'
import { type TakenLive, takeOver } from '../lives/ownership/take-over.ts'
import { ownTerm, type WorkerDeps } from '../lives/ownership/own-sessions.ts'
import { originOf } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { LiveRuns } from './live-runs.ts'

export interface SettleLiveDeps extends WorkerDeps {
  readonly runs: LiveRuns
  /**
   * Milliseconds for which a session that an earlier worker ran waits for its sender. 0 when no other process can hold
   * the socket of the sender.
   */
  readonly takeoverGrace: number
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

/** Starts, stops or ends a session in this process as the log requires. A repeated call changes nothing. */
export type SettleLive = (liveId: number) => Promise<Either<Unavailable, void>>

const done: Either<never, void> = E.right(undefined)

/** Stops a session without a reservation. If it is open, it was created without an admission. */
const settleUnreserved = async (deps: SettleLiveDeps, liveId: number): Promise<Either<Unavailable, void>> => {
  deps.runs.stop(liveId)
  const loaded = await loadLive(deps, liveId)
  if (E.isLeft(loaded)) return loaded
  const { state } = loaded.right
  if (isOpen(state))
    deps.logger.warn({ liveId }, 'a session was created without a reservation: it is not started')
  return done
}

/** Returns whether an active session has no automatic source, so it needs a sender socket, but does not run here. */
const isAbandoned = ({ runs }: SettleLiveDeps, { status, created }: Live): boolean =>
  status === 'active' && !created.autoStart && runs.termOf(created.liveId) === null

const settleTaken = async (
  deps: SettleLiveDeps,
  { state, point }: TakenLive,
  term: number,
): Promise<Either<Unavailable, void>> => {
  const { liveId } = state.created
  const { takeoverGrace: graceMs } = deps
  // The session moved again in the meantime. Its next event settles it.
  if (ownTerm(deps, liveId) !== term) return done
  if (state.created.autoStart) deps.runs.pull(liveId, attachedLive(state), point)
  // A new sender takes its place before the log records it. So a recorded sender without a place is an earlier one.
  // This is only true without an await between the takeover and this check.
  if (state.sender !== null && !deps.runs.hasSender(liveId)) {
    const detached = await detachSender(deps)(liveId, { term, epoch: state.sender })()
    if (E.isLeft(detached)) return detached.left._tag === 'Superseded' ? done : E.left(detached.left)
  }
  if (!isAbandoned(deps, state)) return done
  const restart = { cause: { status: 'finished', reason: 'restart' }, origin: originOf(deps, 'service') } as const
  // The sender may still be connected to another process.
  if (graceMs > 0) {
    deps.runs.awaitSender(liveId, attachedLive(state), point, { ...restart, graceMs })
    return done
  }
  const ended = await endInTerm(deps, liveId, { ...restart, term })
  return E.isLeft(ended) && ended.left._tag !== 'Superseded' ? E.left(ended.left) : done
}

/**
 * Returns whether a session still waits for its first sender. There is nothing to fence then: no worker has written
 * text, and one that begins to writes an event first, which settles the session. So it is taken over when its sender
 * comes, and a worker with thousands of waiting sessions starts without an append for each.
 */
export const waitsForSender = async (
  deps: Pick<SettleLiveDeps, 'store'>, liveId: number,
): Promise<Either<Unavailable, boolean>> =>
  pipe(await glanceAt(deps, liveId), E.map((glance) => glance.kind === 'created' && !glance.autoStart))

/**
 * Decides by the stream `admission`, not by the session's own events. Drops a session of another worker or of a lower
 * term. Takes over a session of this worker, then pulls its source, ends it or releases it.
 */
export const settleLive =
  (deps: SettleLiveDeps): SettleLive =>
  async (liveId) => {
    const { runs, admission } = deps
    if (placementOf(admission.state(), liveId) === null) return await settleUnreserved(deps, liveId)
    const term = ownTerm(deps, liveId)
    if (term === null || (runs.termOf(liveId) ?? term) < term) runs.drop(liveId)
    if (term === null) return done
    const waits = await waitsForSender(deps, liveId)
    if (E.isLeft(waits)) return waits
    if (waits.right) return done
    const taken = await takeOver(deps)(liveId, term)
    if (E.isRight(taken)) return await settleTaken(deps, taken.right, term)
    switch (taken.left._tag) {
      // The create may still be running. `reconcile-lives.ts` undoes it if it never completes.
      case 'LiveUnknown':
        return done
      case 'Superseded':
        runs.drop(liveId)
        return done
      case 'LiveOver':
        runs.stop(liveId)
        return await releaseLive(deps, liveId, originOf(deps, 'service'))
      default:
        return E.left(taken.left)
    }
  }
