/**
 * `hang`: the call has no effect and no answer. `unanswered`: the call takes effect without an answer. `drop`: the call
 * takes effect, then all connections break. `wrong`: an empty answer. `scavenge`: a scavenge runs before the call; for
 * reads and subscriptions.
 */
export type FaultKind = 'hang' | 'unanswered' | 'drop' | 'wrong' | 'scavenge'

export type FaultyCall = 'append' | 'read' | 'subscribe'

export interface Fault {
  readonly on: FaultyCall
  readonly kind: FaultKind
  /** The number of affected calls. */
  readonly times: number
}

export interface Faults {
  readonly add: (fault: Fault) => void
  /** Takes the fault of this call, if there is one. */
  readonly take: (on: FaultyCall) => FaultKind | null
}

export const createFaults = (): Faults => {
  let pending: ReadonlyArray<Fault> = []
  return {
    add: (fault) => {
      pending = [...pending, fault]
    },
    take: (on) => {
      const fault = pending.find((candidate) => candidate.on === on)
      if (fault === undefined) return null
      const rest = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
      pending = pending.flatMap((candidate) => (candidate === fault ? rest : [candidate]))
      return fault.kind
    },
  }
}
