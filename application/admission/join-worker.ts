import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AdmissionRefusal } from '../../domain/admission/decider.ts'
import { isPlaceable } from '../../domain/admission/placement.ts'
import type { Unavailable } from '../errors.ts'
import { ownOrigin } from '../log/origin.ts'
import type { Environment } from '../ports/environment.ts'
import type { Self } from '../ports/members.ts'
import type { AdmissionActor } from './admission-actor.ts'

interface JoinWorkerDeps {
  readonly admission: AdmissionActor
  readonly environment: Environment
}

/**
 * This process runs lives from now on, in `vram` megabytes. What an earlier run under its name left is its own again,
 * as far as there is room, 200 lives an append.
 */
export const joinWorker =
  (deps: JoinWorkerDeps, { name, incarnation }: Self, vram: number): TaskEither<AdmissionRefusal | Unavailable, void> =>
  async () => {
    const { admission, environment } = deps
    const at = environment.now()
    const join = { type: 'Join', worker: name, incarnation, vram, at } as const
    let sent = await admission.send({ command: join, ...ownOrigin(deps) })()
    while (E.isRight(sent) && isPlaceable(sent.right, admission.offering()))
      sent = await admission.send({ command: { type: 'Place', at: environment.now() }, ...ownOrigin(deps) })()
    return E.map(() => undefined)(sent)
  }
