import { type AdmissionState, openOf, placementOf, type Reservation } from '../../../domain/admission/state.ts'
import type { Logger } from '../../ports/environment.ts'
import type { LiveWriteDeps } from '../ending.ts'

/** One run of a process that runs the sessions that the stream `admission` assigns to its name. */
export interface WorkerRun {
  readonly name: string
  /** Id of this run of the process. Null when `admission` is unreadable, so the run that owns the name is unknown. */
  readonly incarnation: string | null
}

/** The dependencies of a worker's writes. */
export interface WorkerDeps extends LiveWriteDeps {
  readonly worker: WorkerRun
  readonly logger: Pick<Logger, 'info'>
}

interface OwnTermDeps extends Pick<WorkerDeps, 'worker'> {
  readonly admission: Pick<WorkerDeps['admission'], 'state'>
}

/** False when a newer run uses the name of this worker. */
const isPresent = ({ workers }: AdmissionState, { name, incarnation }: WorkerRun): boolean =>
  incarnation === null || workers.some((joined) => joined.worker === name && joined.incarnation === incarnation)

/** Returns this worker's term for a session. Null when it does not own the session or a newer run uses its name. */
export const ownTerm = ({ admission, worker }: OwnTermDeps, liveId: number): number | null => {
  const placement = placementOf(admission.state(), liveId)
  return placement?.worker === worker.name && isPresent(admission.state(), worker) ? placement.term : null
}

/** Returns the open sessions of this worker. Empty when a newer run uses its name. */
export const ownSessions = ({ admission, worker }: OwnTermDeps): ReadonlyArray<Reservation> =>
  isPresent(admission.state(), worker) ? openOf(admission.state(), worker.name) : []
