import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { AdmissionActor } from '../admission/admission-actor.ts'
import type { Unavailable } from '../errors.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Origin } from '../log/origin.ts'
import { unexpected } from '../log/unexpected.ts'

/**
 * The dependencies of writes that end sessions. Every open session has a reservation of memory in the stream
 * `admission`.
 */
export interface LiveWriteDeps extends WriteDeps {
  readonly admission: AdmissionActor
}

/**
 * Releases the memory of a session and its place in the user's quota. Call it only for a session that has ended or can
 * never be created (fenced), because any other session could still run.
 */
export const releaseLive =
  async ({ admission }: LiveWriteDeps, liveId: number, origin: Origin): Promise<Either<Unavailable, void>> => {
    const command = { type: 'Release', liveId } as const
    const released = await admission.send({ ...origin, command })
    if (E.isRight(released)) return E.right(undefined)
    switch (released.left._tag) {
      case 'QuotaReached':
      case 'NoWorker':
      case 'InsufficientVram':
      case 'InsufficientCompute':
      case 'MovedSince':
        throw unexpected(`release of live ${liveId}`, released.left)
      default:
        return E.left(released.left)
    }
  }
