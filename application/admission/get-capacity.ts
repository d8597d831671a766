import { reservedVram, totalVram } from '../../domain/admission/state.ts'
import type { Caller } from '../caller.ts'
import type { AdmissionActor } from './admission-actor.ts'

/** Memory of all workers in megabytes, and the caller's quotas. */
export interface Capacity {
  readonly vramTotal: number
  readonly vramReserved: number
  readonly vramFree: number
  readonly openSessions: number
  readonly maxSessions: number
  readonly maxTranslations: number
}

export type GetCapacity = (caller: Caller) => Capacity

/** Returns the known capacity. The last reservations by other processes may be missing. */
export const getCapacity =
  ({ admission }: { readonly admission: Pick<AdmissionActor, 'state'> }): GetCapacity =>
  ({ userId, maxSessions, maxTranslations }) => {
    const state = admission.state()
    const [vramTotal, vramReserved] = [totalVram(state), reservedVram(state)]
    return {
      vramTotal,
      vramReserved,
      // After a restart with less memory, more may be reserved than exists.
      vramFree: Math.max(0, vramTotal - vramReserved),
      openSessions: state.open.filter((reservation) => reservation.userId === userId).length,
      maxSessions,
      maxTranslations,
    }
  }
