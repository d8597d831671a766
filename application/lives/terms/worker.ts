import { placementOf } from '../../../domain/admission/state.ts'
import type { Logger } from '../../ports/environment.ts'
import type { LiveWriteDeps } from '../release-live.ts'

/** A process that runs the sessions that the stream `admission` assigns to its name. */
export interface Worker {
  readonly name: string
  /** Id of this run of the process. Null when `admission` is unreadable, so the run that owns the name is unknown. */
  readonly incarnation: string | null
}

/** The dependencies of a worker's writes. */
export interface WorkerDeps extends LiveWriteDeps {
  readonly worker: Worker
  readonly logger: Pick<Logger, 'info'>
}

interface OwnTermDeps extends Pick<WorkerDeps, 'worker'> {
  readonly admission: Pick<WorkerDeps['admission'], 'state'>
}

/** Returns this worker's term for a session. Null when it does not own the session or a newer run uses its name. */
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
