/**
 * What the double does instead of its duty. `hang`: nothing is done and nothing answered. `unanswered`: done, never
 * answered. `drop`: done, then the connections break instead of an answer. `wrong`: an answer that says nothing.
 * `scavenge`: done, after a scavenge; for reads and subscriptions.
 */
export type FaultKind = 'hang' | 'unanswered' | 'drop' | 'wrong' | 'scavenge'

export type FaultyCall = 'append' | 'read' | 'subscribe'

export interface Fault {
  readonly on: FaultyCall
  readonly kind: FaultKind
  /** Calls that it meets. */
  readonly times: number
}

export interface Faults {
  readonly add: (fault: Fault) => void
  /** The fault that this call meets. */
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
