import type { AdmissionEvent, Moved, WorkerJoined, WorkerRestarted } from '../../domain/admission/events.ts'
import {
  type AdmissionState, evolve, heldVram, initialState, placementOf, type Reservation,
} from '../../domain/admission/state.ts'
import type { EventOf } from '../../domain/shared/event.ts'

/** True for a session that was created and has ended, or whose creation was aborted. */
type HasEnded = (liveId: number) => boolean

/** Returns the rule that a reservation of `vram` more megabytes on a worker would break, or null. */
const placementProblem = (state: AdmissionState, name: string, vram: number): string | null => {
  const worker = state.workers.find((known) => known.worker === name)
  if (worker === undefined) return `worker ${name} got a session before it joined or after it left`
  if (worker.isDraining) return `worker ${name} got a session while it was draining`
  const held = heldVram(state, name) + vram
  return held > worker.vram ? `worker ${name} has reservations of ${held} MB but only ${worker.vram} MB` : null
}

const moveProblem = (
  { workers, open }: AdmissionState,
  { liveId, worker, term }: EventOf<typeof Moved>['data'],
): string | null => {
  const moved = open.find((held) => held.liveId === liveId)
  if (moved === undefined) return `session ${liveId} was moved without a reservation`
  if (term !== moved.term + 1) return `session ${liveId} was moved to term ${term} instead of term ${moved.term + 1}`
  const others = { ...initialState, workers, open: open.filter((held) => held !== moved) }
  return placementProblem(others, worker, moved.vram)
}

const joinProblem = (state: AdmissionState, event: EventOf<typeof WorkerJoined>): string | null => {
  const { worker: name, incarnation } = event.data
  const before = state.workers.find(({ worker }) => worker === name)
  const isFirst = before === undefined || before.incarnation === incarnation
  return isFirst ? null : `worker ${name} joined again before it left`
}

const restartProblem = (state: AdmissionState, event: EventOf<typeof WorkerRestarted>): string | null => {
  const { worker: name, incarnation, vram } = event.data
  const before = state.workers.find(({ worker }) => worker === name)
  if (before === undefined) return `worker ${name} restarted but had not joined`
  if (before.incarnation === incarnation) return `worker ${name} restarted as the same run`
  const kept = heldVram(evolve(state, event), name)
  return kept > vram ? `worker ${name} kept reservations of ${kept} MB but has only ${vram} MB` : null
}

const admissionProblem = (state: AdmissionState, event: AdmissionEvent, hasEnded: HasEnded): string | null => {
  switch (event.type) {
    case 'CapacitySet':
    case 'LiveIdsSkipped':
      return null
    case 'WorkerJoined':
      return joinProblem(state, event)
    case 'WorkerRestarted':
      return restartProblem(state, event)
    case 'WorkerDraining':
    case 'WorkerLeft': {
      const { worker: name, incarnation } = event.data
      const isJoined = state.workers.some((known) => known.worker === name && known.incarnation === incarnation)
      return isJoined ? null : `${event.type} of worker ${name}, which is not joined`
    }
    case 'Admitted': {
      const { liveId, worker, vram } = event.data
      if (liveId <= state.lastLiveId) return `session ${liveId} was admitted after session ${state.lastLiveId}`
      return placementProblem(state, worker, vram)
    }
    case 'Moved':
      return moveProblem(state, event.data)
    case 'Released': {
      const { liveId } = event.data
      if (placementOf(state, liveId) === null) return `session ${liveId} was released without a reservation`
      return hasEnded(liveId) ? null : `session ${liveId} was released before its end`
    }
  }
}

/** Checks the events of `admission`, using only the log and not the decider. */
export const createAdmissionRules = (hasEnded: HasEnded) => {
  let state = initialState
  return {
    /** Checks the next event. Returns the rule that it breaks, or null. */
    check: (event: AdmissionEvent): string | null => {
      const problem = admissionProblem(state, event, hasEnded)
      state = evolve(state, event)
      return problem
    },
    open: (): ReadonlyArray<Reservation> => state.open,
    reservationOf: (liveId: number): Reservation | undefined => state.open.find((held) => held.liveId === liveId),
  }
}
