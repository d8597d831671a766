/** A fault of the next `times` calls of a command at the primary. `*`: every command, including hello. */
export interface Fault {
  readonly command: string
  readonly times: number
  /**
   * `drop-before` and `drop-after`: the connection breaks before or after the command takes effect. `hang`: no answer.
   * `empty`: an answer with `ok` only. `garbled`: bytes that are not BSON. `not-primary`: the refusal of a server that
   * has stepped down. `hold`: the command begins when all faults have ended, unless its `maxTimeMS` ends first.
   */
  readonly effect: 'drop-before' | 'drop-after' | 'hang' | 'empty' | 'garbled' | 'not-primary' | 'hold'
}

/** A change of the replica set (see README.md). Members are numbered from 0; an election needs a majority. */
export type Turn =
  /** The primary steps down on request. Another member is elected after `electionMs`. */
  | { readonly turn: 'step-down'; readonly electionMs: number }
  /** The primary is cut off from the other members, which elect another primary. It still serves its clients. */
  | { readonly turn: 'depose'; readonly electionMs: number }
  /** All cut-off members are connected again. A deposed primary steps down and rolls back. */
  | { readonly turn: 'rejoin' }
  /** The member answers no request. */
  | { readonly turn: 'freeze'; readonly member: number; readonly electionMs: number }
  /** The member continues. If another member was elected, it acts as primary for `claimMs` before it notices. */
  | { readonly turn: 'thaw'; readonly member: number; readonly claimMs: number }
  /** The port of the member closes. */
  | { readonly turn: 'stop'; readonly member: number; readonly electionMs: number }
  | { readonly turn: 'start'; readonly member: number }
  /** The clock of the member is ahead by `ms`. */
  | { readonly turn: 'skew'; readonly member: number; readonly ms: number }

/** The state of a network. `silent`: data is held and nothing is refused. `closed`: connections are refused. */
export type Line = 'open' | 'silent' | 'closed'

/** Opens a door, or changes its lines to some members. */
export type DoorControl =
  | { readonly door: string }
  | { readonly door: string; readonly line: Line; readonly members: ReadonlyArray<number> }

/**
 * A request of the test. `heal`: removes all faults. `cut-off`: the primary continues without the other members. `lag`:
 * readable secondaries get no new data. `catch-up`: all members get all writes of the primary. `roll-back`: the writes
 * of the primary without a majority are lost. `count`: returns the state only.
 */
export type Control = Fault | Turn | DoorControl | 'heal' | 'cut-off' | 'lag' | 'catch-up' | 'roll-back' | 'count'

/** A write that an election or a power failure could undo after its acknowledgement. */
export interface WeakWrite {
  readonly collection: string
  readonly command: string
  /** Its write concern as JSON. */
  readonly concern: string
}

export interface State {
  /** The number of held commands. */
  readonly held: number
  /** The number of performed writes that wait for a majority. */
  readonly waiting: number
  /** The number of connections so far. */
  readonly connections: number
  /** The primary of the majority; null: none until the next election. */
  readonly primary: number | null
  /** The term of the latest election. */
  readonly term: number
  /** Members that act as primary although another member was elected. */
  readonly deposed: ReadonlyArray<number>
  /** Each weak write once, including refused writes, except writes that may be lost. */
  readonly weakWrites: ReadonlyArray<WeakWrite>
}

/** A message to the process of the double. */
export interface ControlRequest {
  readonly id: number
  readonly control: Control
}

/** The answer to a ControlRequest. */
export interface ControlAnswer {
  readonly id: number
  readonly state: State
  /** The ports of the requested door. */
  readonly ports: ReadonlyArray<number>
}

/** Creates a queue of pending faults. */
export const createFaults = () => {
  let pending: ReadonlyArray<Fault> = []
  return {
    add: (fault: Fault): void => {
      pending = [...pending, fault]
    },
    clear: (): void => {
      pending = []
    },
    /** Takes the effect for this call, if there is one. */
    next: (command: string): Fault['effect'] | undefined => {
      const fault = pending.find((candidate) => candidate.command === command || candidate.command === '*')
      if (fault === undefined) return undefined
      const rest = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
      pending = pending.flatMap((candidate) => (candidate === fault ? rest : [candidate]))
      return fault.effect
    },
  }
}
