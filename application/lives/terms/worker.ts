import { placementOf } from '../../../domain/admission/state.ts'
import type { LiveWriteDeps } from '../release-live.ts'

/** A process that runs the lives which `admission` has given to its name. */
export interface Worker {
  readonly name: string
  /** Of this run of the process; null where `admission` cannot be read, so that nobody knows which run has the name. */
  readonly incarnation: string | null
}

/** What a worker writes with. */
export interface WorkerDeps extends LiveWriteDeps {
  readonly worker: Worker
}

interface OwnTermDeps extends Pick<WorkerDeps, 'worker'> {
  readonly admission: Pick<WorkerDeps['admission'], 'state'>
}

/** The term in which this worker has the live; null where it has not, or another run of its name has joined since. */
export const ownTerm = (
  { admission, worker: { name, incarnation } }: OwnTermDeps,
  liveId: number,
): number | null => {
  const state = admission.state()
  const placement = placementOf(state, liveId)
  if (placement?.worker !== name) return null
  const joined = state.workers.find(({ worker }) => worker === name)
  return incarnation === null || joined?.incarnation === incarnation ? placement.term : null
}
