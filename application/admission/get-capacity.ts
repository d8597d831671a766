import { reservedVram, totalVram } from '../../domain/admission/state.ts'
import type { Caller } from '../caller.ts'
import type { AdmissionActor } from './admission-actor.ts'

/** What there is to reserve from, in megabytes, and how much of their quotas the caller uses. */
export interface Capacity {
  readonly vramTotal: number
  readonly vramReserved: number
  readonly vramFree: number
  readonly openSessions: number
  readonly maxSessions: number
  readonly maxTranslations: number
}

export type GetCapacity = (caller: Caller) => Capacity

/** From memory: another process's last reservations may be missing. */
export const getCapacity =
  ({ admission }: { readonly admission: Pick<AdmissionActor, 'state'> }): GetCapacity =>
  ({ userId, maxSessions, maxTranslations }) => {
    const state = admission.state()
    const [vramTotal, vramReserved] = [totalVram(state), reservedVram(state)]
    return {
      vramTotal,
      vramReserved,
      // After a restart with less memory more may be reserved than there is.
      vramFree: Math.max(0, vramTotal - vramReserved),
      openSessions: state.open.filter((reservation) => reservation.userId === userId).length,
      maxSessions,
      maxTranslations,
    }
  }
