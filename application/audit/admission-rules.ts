import type { AdmissionEvent, Moved } from '../../domain/admission/events.ts'
import { evolve, heldVram, initialState, placementOf } from '../../domain/admission/state.ts'
import type { AdmissionState, Reservation } from '../../domain/admission/state.ts'
import type { EventOf } from '../../domain/shared/event.ts'

/** Whether a live was there and has ended, or was fenced off. */
type IsOver = (liveId: number) => boolean

/** What so many more megabytes break on a worker. */
const brokenByPlace = (state: AdmissionState, name: string, vram: number): string | null => {
  const worker = state.workers.find((one) => one.worker === name)
  if (worker === undefined) return `worker ${name} was given a live and had not joined, or had left`
  if (worker.isDraining) return `worker ${name} was given a live while it drained`
  const held = heldVram(state, name) + vram
  return held > worker.vram ? `${held} MB reserved of ${worker.vram} on worker ${name}` : null
}

const brokenByMove = (
  { workers, open }: AdmissionState,
  { liveId, worker, term }: EventOf<typeof Moved>['data'],
): string | null => {
  const moved = open.find((held) => held.liveId === liveId)
  if (moved === undefined) return `live ${liveId} was moved without holding anything`
  if (term !== moved.term + 1) return `live ${liveId} was moved into term ${term} after term ${moved.term}`
  const others = { ...initialState, workers, open: open.filter((held) => held !== moved) }
  return brokenByPlace(others, worker, moved.vram)
}

const brokenByAdmission = (state: AdmissionState, event: AdmissionEvent, isOver: IsOver): string | null => {
  switch (event.type) {
    case 'CapacitySet':
      return null
    case 'WorkerJoined': {
      const { worker: name, incarnation } = event.data
      const before = state.workers.find(({ worker }) => worker === name)
      return before === undefined || before.incarnation === incarnation
        ? null
        : `worker ${name} joined before it had left`
    }
    case 'WorkerDraining':
    case 'WorkerLeft': {
      const { worker: name, incarnation } = event.data
      const isJoined = state.workers.some((one) => one.worker === name && one.incarnation === incarnation)
      return isJoined ? null : `${event.type} of worker ${name}, which had not joined or had left`
    }
    case 'Admitted': {
      const { liveId, worker, vram } = event.data
      if (liveId <= state.lastLiveId) return `live ${liveId} was admitted after live ${state.lastLiveId}`
      return brokenByPlace(state, worker, vram)
    }
    case 'Moved':
      return brokenByMove(state, event.data)
    case 'Released': {
      const { liveId } = event.data
      if (placementOf(state, liveId) === null) return `live ${liveId} was released without holding anything`
      return isOver(liveId) ? null : `live ${liveId} was released before its end`
    }
  }
}

/** Who holds megabytes where, judged anew from nothing but `admission`. */
export const createAdmissionRules = (isOver: IsOver) => {
  let state = initialState
  return {
    /** Which rule the next event breaks, null for none. */
    broken: (event: AdmissionEvent): string | null => {
      const broken = brokenByAdmission(state, event, isOver)
      state = evolve(state, event)
      return broken
    },
    open: (): ReadonlyArray<Reservation> => state.open,
    reservationOf: (liveId: number): Reservation | undefined => state.open.find((held) => held.liveId === liveId),
  }
}
