import type { Either } from 'fp-ts/lib/Either.js'
import type { Unavailable } from '../refusals.ts'
import type { Self } from '../ports/members.ts'
import { type PlacingDeps, sendAndPlace } from './send-with-retries.ts'

interface JoinDeps extends PlacingDeps {
  /** Returns true when all members know the event `WorkerRestarted`. */
  readonly knowsRestart: () => boolean
}

/**
 * Joins this process as a worker with `vram` megabytes. It keeps the sessions of an earlier process with its name, as
 * far as its memory allows.
 */
export const joinWorker =
  (deps: JoinDeps, { name, incarnation }: Self, vram: number): Promise<Either<Unavailable, void>> =>
    sendAndPlace(deps, { type: 'Join', worker: name, incarnation, vram, knowsRestart: deps.knowsRestart() })
