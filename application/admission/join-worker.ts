import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AdmissionRefusal } from '../../domain/admission/decider.ts'
import type { Unavailable } from '../errors.ts'
import type { Self } from '../ports/peers/members.ts'
import { sendAndPlace } from './send-surely.ts'
import type { PlacingDeps } from './send-surely.ts'

/**
 * This process runs lives from now on, in `vram` megabytes. What an earlier run under its name left is its own again,
 * as far as there is room, 200 lives an append.
 */
export const joinWorker =
  (deps: PlacingDeps, { name, incarnation }: Self, vram: number): TaskEither<AdmissionRefusal | Unavailable, void> =>
  () =>
    sendAndPlace(deps, { type: 'Join', worker: name, incarnation, vram, at: deps.environment.now() })
