import type { AdmissionState } from './decider.ts'

/** Which worker runs a live that is open, and in which term; null without a reservation. */
export const placementOf = (
  state: AdmissionState,
  liveId: number,
): { readonly worker: string | null; readonly term: number } | null => {
  const held = state.open.find((reservation) => reservation.liveId === liveId)
  return held === undefined ? null : { worker: held.worker, term: 1 }
}
