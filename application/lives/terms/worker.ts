import type { LiveWriteDeps } from '../release-live.ts'

/** What a worker writes with: the process that runs the lives which `admission` has given to its name. */
export interface WorkerDeps extends LiveWriteDeps {
  /** Its name in `admission`. */
  readonly worker: string
}
